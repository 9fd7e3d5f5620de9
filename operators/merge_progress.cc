#include "operators/merge_progress.h"

#include "base/hash.h"
#include "state/merged_time.h"

namespace bloomring {

namespace {

// The end of the hour; INT64_MAX where it would overflow.
int64_t end_ms(HourIndex hour, int64_t slot_ms) {
  return hour.value < INT64_MAX / slot_ms ? (hour.value + 1) * slot_ms : INT64_MAX;
}

}  // namespace

bool MergeProgress::begin_batch(const DrainHeader& header) {
  // Another drain than the last record's: the records seen so far do not count for its slot end.
  if (header != drain_) {
    drain_ = header;
    seen_.clear();
  }
  return !watermark_ || !watermark_->covers(header.range);
}

void MergeProgress::applied(std::string_view record) { seen_.insert(hash_bytes(record, 0)); }

MergeProgress::End MergeProgress::end_slot(const SlotEnd& end, int64_t wall_ms) {
  moved_ = watermark_.value_or(MergedWatermark{});
  for (const DrainedHour& drained : end.hours) moved_.add(drained.range, drained.hour);
  if (watermark_ && moved_ == *watermark_) return End::kCovered;
  // Complete: the drain had no records, or this object has seen all of them since the drain's first one.
  const bool all_seen = end.records == 0 || (end.header == drain_ && seen_.size() == end.records);
  // Incomplete: the watermark stays, and the window stage drains the slot again.
  if (!all_seen) return End::kIncomplete;
  moved_.slot_ms = slot_ms_;
  moved_.merged_ms = later_merged_ms(moved_.merged_ms, end_ms(end.hours.back().hour, slot_ms_), wall_ms);
  return End::kMoves;
}

}  // namespace bloomring
