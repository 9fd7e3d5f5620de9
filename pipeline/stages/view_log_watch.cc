#include "pipeline/stages/view_log_watch.h"

#include <algorithm>
#include <vector>

#include "base/log.h"

namespace bloomring {

namespace {

constexpr int64_t kAskIntervalMinMs = 250;
constexpr int64_t kAskIntervalMaxMs = 15'000;
constexpr int kAskTimeoutMs = 5'000;
constexpr int kUnansweredMax = 3;
constexpr size_t kQueueMemoryBytes = 1 << 20;  // Nothing is read.

}  // namespace

ViewLogWatch::ViewLogWatch(const StageContext& context, const ViewRow& row)
    : context_(context),
      row_(row),
      worker_(std::make_unique<Worker>(context.stage() + "-ask", context.clock, [](const Status&) {})) {
  BLOOMRING_CHECK(std::ranges::find(context.row.watches, row.merge_stage) != context.row.watches.end(),
                  "the row of a stage names each group that it watches");
  const int64_t interval_ms = std::clamp(context.settings.ring.slot_ms() / 8, kAskIntervalMinMs, kAskIntervalMaxMs);
  worker_->set_ticker(interval_ms, [this] { ask(); });
}

ViewLogWatch::~ViewLogWatch() { worker_.reset(); }

void ViewLogWatch::add(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  watched_[partition] = {};
}

void ViewLogWatch::remove(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  watched_.erase(partition);
}

BatchesLog ViewLogWatch::of(PartitionId partition) const {
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(partition);
  return found == watched_.end() ? BatchesLog() : found->second.log;
}

void ViewLogWatch::ask() {
  std::vector<kafka::TopicPartition> partitions;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [partition, watched] : watched_)
      partitions.push_back({context_.settings.topics.name(row_.batches), partition});
  }
  if (partitions.empty()) return;
  if (!consumer_) {
    kafka::ClientSettings settings = context_.kafka;
    settings.group = context_.settings.kafka.group(row_.merge_stage);
    settings.queue_memory_bytes = kQueueMemoryBytes;
    auto made = kafka::AssignedConsumer::create(settings, 1, context_.clock);
    if (!made.ok()) {
      return log_warning("window: the progress of merge is not watched",
                         {{"stage", context_.row.name},
                          {"topic", context_.settings.topics.name(row_.batches)},
                          {"code", code_name(made.code())},
                          {"reason", made.status().message()}});
    }
    consumer_ = std::move(*made);
  }
  if (const Status polled = consumer_->poll(0); !polled.ok()) log_debug("window: " + polled.to_string());
  const auto logs = consumer_->group_facts(partitions, kAskTimeoutMs);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < partitions.size(); ++i) {
    const auto found = watched_.find(partitions[i].partition);
    if (found == watched_.end()) continue;
    Watched& watched = found->second;
    const Result<kafka::PartitionFacts>& log = logs[i];
    if (!log.ok()) {
      watched.log.expected = ++watched.unanswered < kUnansweredMax;
      log_debug("window: the progress of merge is not known: " + log.status().to_string());
      continue;
    }
    watched = {{std::max(log->committed.value_or(log->log_start), log->log_start), log->log_end, true}, 0};
  }
}

}  // namespace bloomring
