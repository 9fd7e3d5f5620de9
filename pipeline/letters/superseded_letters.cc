#include "pipeline/letters/superseded_letters.h"

#include "base/hash.h"
#include "pipeline/kafka/partition.h"

namespace bloomring {

namespace {

uint64_t mark_of(const std::string& place, const Letter& letter) {
  return hash_bytes(letter.value, hash_bytes(place, letter.whole_value_bytes()));
}

}  // namespace

std::string letter_place(const std::string& dead_topic, PartitionId partition, Offset offset) {
  return kafka::to_string({dead_topic, partition}) + "@" + std::to_string(offset.value);
}

void SupersededLetters::add(const DeadRecord& record) {
  if (!record.letter || record.letter->replayed_from.empty() || marks_.size() >= kLettersMax) return;
  marks_.insert(mark_of(record.letter->replayed_from, *record.letter));
}

bool SupersededLetters::contains(const std::string& dead_topic, const DeadRecord& record) const {
  if (!record.letter || marks_.empty()) return false;
  return marks_.contains(mark_of(letter_place(dead_topic, record.partition, record.offset), *record.letter));
}

}  // namespace bloomring
