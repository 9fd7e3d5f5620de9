#include "pipeline/letters/letter_table.h"

#include <algorithm>

namespace bloomring {

namespace {

void count(LetterTable::Row& row, const DeadRecord& record) {
  const int64_t at_ms = record.log_time_ms;
  row.first_ms = row.letters == 0 ? at_ms : std::min(row.first_ms, at_ms);
  row.last_ms = row.letters == 0 ? at_ms : std::max(row.last_ms, at_ms);
  ++row.letters;
  row.bytes += record.bytes;
}

void count_source(LetterTable::Row& row, const Letter& letter) {
  const auto known = row.sources.find(letter.topic);
  if (known == row.sources.end() && row.sources.size() == LetterTable::kSourcesMax) {
    ++row.other_sources;
    return;
  }
  LetterTable::Source& source = known != row.sources.end() ? known->second : row.sources[letter.topic];
  ++source.letters;
  if (source.partitions.size() < LetterTable::kPartitionsMax) source.partitions.insert(letter.partition.value);
}

}  // namespace

void LetterTable::add(const DeadRecord& record) {
  if (!record.letter) return count(foreign_, record);
  ++letters_;
  Row& row = rows_[std::string(known_reason(record.letter->reason))];
  count(row, record);
  row.cut += record.letter->cut();
  row.replayed += record.letter->replays > 0;
  count_source(row, *record.letter);
}

}  // namespace bloomring
