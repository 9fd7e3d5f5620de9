#include "pipeline/tasks/unread_batches.h"

#include <string>

#include "base/log.h"

namespace bloomring {

namespace {
constexpr int kRecordsPerStep = 256;
}

UnreadBatches::UnreadBatches(MergeConfig config, const Calendar& calendar, FilterStore& filters,
                             std::optional<MergedWatermark> watermark, std::unique_ptr<Source> source, Offset end)
    : partition_(config.partition),
      source_(std::move(source)),
      end_(end),
      merge_(config, calendar, filters, std::move(watermark)) {}

Result<bool> UnreadBatches::step(int64_t wall_ms) {
  bool worked = false;
  for (int i = 0; i < kRecordsPerStep && !done(); ++i) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, source_->poll());
    if (!record) break;
    worked = true;
    std::string detail;
    BLOOMRING_TRY_ASSIGN(const Merge::Applied applied, merge_.apply(record->value, wall_ms, detail));
    if (applied.refusal == Refusal::kNone) continue;
    ++refused_;
    log_warning("an unread record is not a batch: it is skipped, and then removed",
                {{"partition", partition_.value}, {"offset", record->offset.value}, {"reason", detail}});
  }
  return worked;
}

}  // namespace bloomring
