#include "pipeline/jobs/replay/forget_scan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"
#include "schemas/event_block.h"

namespace bloomring {

ForgetScan::ForgetScan(const PlayMapping& mapping, IngestTaskConfig::Form form, uint32_t block_partitions,
                       HistoryForgets& forgets, std::optional<int64_t> until_ms)
    : parser_(mapping), form_(form), block_partitions_(block_partitions), forgets_(forgets), until_ms_(until_ms) {}

void ForgetScan::add_source(ReplayPart& part, Offset end, std::unique_ptr<Source> source) {
  inputs_.push_back({&part, end, part.until, std::move(source)});
}

Result<uint64_t> ForgetScan::step(uint64_t records_max, int64_t now_ms) {
  constexpr uint64_t kRun = 1'024;  // Of one partition: its buffers stay in the cache.
  uint64_t read = 0;
  for (Input& input : inputs_) {
    for (uint64_t run = 0; run < kRun && read < records_max && !input.ended(); ++run) {
      BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, input.source->poll());
      if (!record) break;
      ++read;
      if (record->offset >= input.end) break;
      if (until_ms_ && record->log_time_ms < *until_ms_)
        input.until = std::max(input.until, Offset(record->offset.value + 1));
      BLOOMRING_TRY(take(input, *record, now_ms));
    }
  }
  return read;
}

// As ingest judges it in the second pass: by the time of its record.
Status ForgetScan::take(const Input& input, const LogRecord& record, int64_t now_ms) {
  if (form_ == IngestTaskConfig::Form::kBlocks) return take_block(input, record);
  const bool stamped = record.log_time_ms >= kEventTimeMinMs && record.log_time_ms < now_ms;
  const int64_t judge_ms = stamped ? record.log_time_ms : now_ms;
  Play play;
  if (parser_.parse(record.value, judge_ms, play) != Refusal::kNone || play.skip != Skip::kNone) return {};
  if (!is_forget(play.kind)) return {};
  std::string key(1, static_cast<char>(play.scene.size()));
  key.append(play.scene).append(play.user);
  const ItemHash item = play.kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(play.item);
  // As ingest: one that is ahead is before what arrives with it.
  const int64_t time_ms = play.time_ms <= judge_ms ? play.time_ms : judge_ms - 1;
  return forgets_.note(user_hash(key), {play.kind, item, time_ms});
}

Status ForgetScan::take_block(const Input& input, const LogRecord& record) {
  auto block = EventBlockReader::open(record.value, input.part->at.partition, block_partitions_);
  if (!block.ok() || block->forgets() == 0) return {};
  while (block->next_user()) {
    const uint64_t hash = block->user().hash;
    while (block->next_event()) {
      if (is_forget(block->event().kind)) BLOOMRING_TRY(forgets_.note(hash, block->event()));
    }
  }
  return {};
}

bool ForgetScan::finish() {
  if (!std::ranges::all_of(inputs_, &Input::ended)) return false;
  for (const Input& input : inputs_) input.part->until = input.until;
  inputs_.clear();
  return true;
}

}  // namespace bloomring
