#include "operators/merge_progress.h"

#include "state/merged_time.h"

namespace bloomring {

namespace {

// The end of the hour; INT64_MAX where it would overflow.
int64_t end_ms(HourIndex hour, int64_t slot_ms) {
  return hour.value < INT64_MAX / slot_ms ? (hour.value + 1) * slot_ms : INT64_MAX;
}

}  // namespace

void MergeProgress::begin_drain(const DrainHeader& header) {
  drain_ = header;
  seen_.clear();
  digest_ = 0;
}

bool MergeProgress::begin_batch(const DrainHeader& header) {
  // Another drain than the last record's: the records seen so far do not count for its slot end.
  if (header != drain_) begin_drain(header);
  return !watermark_ || !watermark_->covers(header.range);
}

void MergeProgress::applied(std::string_view record) {
  const uint64_t digest = record_digest(record);
  if (seen_.insert(digest).second) digest_ += digest;
}

std::string_view MergeProgress::describe(End end) {
  switch (end) {
    case End::kMoves:
    case End::kCovered: return {};
    case End::kUnsummed: return "it is of an earlier version and has no keyed sum";
    case End::kForged: return "its keyed sum is not that of the view's store: no window stage of this store wrote it";
    case End::kIncomplete: return "not all of its batches were read";
    case End::kDiffers: return "other batches were read than it names";
  }
  return {};
}

MergeProgress::End MergeProgress::judge(const SlotEnd& end) const {
  if (end.version != kSlotEndVersion) return End::kUnsummed;
  if (end.keyed_sum != slot_end_sum(end, key_)) return End::kForged;
  const bool none = end.header != drain_;
  if ((none ? 0 : seen_.size()) != end.records) return End::kIncomplete;
  return (none ? 0 : digest_) == end.digest ? End::kMoves : End::kDiffers;
}

MergeProgress::End MergeProgress::end_slot(const SlotEnd& end, int64_t wall_ms) {
  moved_ = watermark_.value_or(MergedWatermark{});
  for (const DrainedHour& drained : end.hours) moved_.add(drained.range, drained.hour);
  if (watermark_ && moved_ == *watermark_) return End::kCovered;
  if (const End judged = judge(end); judged != End::kMoves) {
    // A window stage wrote it, so this run is over. The next one may have the same head, and sends all of its records.
    const bool ended = judged == End::kIncomplete || judged == End::kDiffers;
    if (ended && end.header == drain_) begin_drain(end.header);
    return judged;
  }
  moved_.slot_ms = slot_ms_;
  moved_.merged_ms = later_merged_ms(moved_.merged_ms, end_ms(end.hours.back().hour, slot_ms_), wall_ms);
  return End::kMoves;
}

}  // namespace bloomring
