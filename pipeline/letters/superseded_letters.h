// The letters whose record was put back and refused again: a later letter stands for each of them, with the count of
// replays. Only that one is put back once more, so that the count bounds how often a record comes.
//
//   plays-dead[0]@17 --put back--> plays --refused again--> plays-dead[0]@99 (bloomring.replay.from: plays-dead[0]@17)
//
// A later letter stands for one only with the same value: nobody who writes plays can hide the letters of others by a
// header.
// Memory: 16 bytes for each letter that was put back before, of kLettersMax at most. Of more, some letters are put back
// although a later one stands for them.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "pipeline/letters/letter.h"

namespace bloomring {

// "plays-dead[0]@17": the place of a letter, as the header of a record that was put back names it.
std::string letter_place(const std::string& dead_topic, PartitionId partition, Offset offset);

class SupersededLetters {
 public:
  static constexpr size_t kLettersMax = 4'000'000;

  // Every letter of the topic, in any order, before the first question.
  void add(const DeadRecord& record);
  bool contains(const std::string& dead_topic, const DeadRecord& record) const;

 private:
  std::unordered_set<uint64_t> marks_;  // Of place and value.
};

}  // namespace bloomring
