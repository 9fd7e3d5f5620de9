#include "pipeline/tasks/unread_batches.h"

#include <string>

#include "base/log.h"

namespace bloomring {

namespace {
constexpr int kRecordsPerStep = 256;
}

UnreadBatches::UnreadBatches(MergeConfig config, const Calendar& calendar,
                             std::unique_ptr<PartitionWriter> filters, std::optional<MergedWatermark> watermark,
                             std::unique_ptr<Source> source, Offset end)
    : partition_(config.partition),
      source_(std::move(source)),
      end_(end),
      merge_(config, calendar, std::move(filters), std::move(watermark)) {}

Result<bool> UnreadBatches::step(int64_t wall_ms) {
  bool worked = false;
  for (int i = 0; i < kRecordsPerStep && !all_applied(); ++i) {
    if (!record_) {
      BLOOMRING_TRY_ASSIGN(record_, source_->poll());
    }
    if (!record_) break;
    std::string detail;
    BLOOMRING_TRY_ASSIGN(const std::optional<Merge::Applied> applied, merge_.apply(record_->value, wall_ms, detail));
    if (!applied) break;
    worked = true;
    const Offset offset = record_->offset;
    record_.reset();
    if (applied->refusal == Refusal::kNone) continue;
    ++refused_;
    log_warning("an unread record is not a batch: it is skipped, and then removed",
                {{"partition", partition_.value}, {"offset", offset.value}, {"reason", detail}});
  }
  if (!all_applied() || synced_) return worked;
  BLOOMRING_TRY_ASSIGN(synced_, merge_.sync());
  return worked || synced_;
}

}  // namespace bloomring
