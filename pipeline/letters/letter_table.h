// Dead letters by reason: how many, of when, from where. The table of `bloomring dlq list`.
//
// Memory: bounded, whatever the topic holds. A letter with a reason that this version does not know counts as "other".
// Of the sources of a reason, kSourcesMax topics are told apart and kPartitionsMax partitions of each; further ones are
// counted together.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "pipeline/letters/letter.h"

namespace bloomring {

class LetterTable {
 public:
  static constexpr size_t kSourcesMax = 32;
  static constexpr size_t kPartitionsMax = 4096;

  struct Source {
    uint64_t letters = 0;
    std::set<int32_t> partitions;  // kPartitionsMax: there may be more.
  };
  struct Row {
    uint64_t letters = 0;
    uint64_t bytes = 0;  // Of keys and values, as the letters hold them.
    int64_t first_ms = 0;
    int64_t last_ms = 0;
    uint64_t cut = 0;
    uint64_t replayed = 0;  // That had been put back before.
    std::map<std::string, Source> sources;  // By topic...
    uint64_t other_sources = 0;             // ...and the letters of further topics.
  };

  void add(const DeadRecord& record);

  const std::map<std::string, Row, std::less<>>& rows() const { return rows_; }
  const Row& foreign() const { return foreign_; }  // Without sources.
  uint64_t letters() const { return letters_; }

 private:
  std::map<std::string, Row, std::less<>> rows_;
  Row foreign_;
  uint64_t letters_ = 0;
};

}  // namespace bloomring
