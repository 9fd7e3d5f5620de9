#include "pipeline/runtime/catch_up.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "pipeline/runtime/runtime_metrics.h"

namespace bloomring {

namespace {

// A start that is over by then writes no line.
constexpr int64_t kFirstLineNs = 2'000'000'000;
constexpr int64_t kLineIntervalNs = 5'000'000'000;

std::string sentence(const CatchUp::Progress& left) {
  const std::string what = left.events_left > 0 ? std::to_string(left.events_left) + " events"
                                                : std::to_string(left.records_left) + " records";
  const std::string time =
      left.seconds_left > 0 ? ", " + std::to_string(std::llround(std::ceil(left.seconds_left))) + " s" : "";
  return std::to_string(left.partitions) + " partitions, " + what + time + " to go";
}

}  // namespace

void CatchUp::begin(PartitionId partition, Offset from, Offset to, int64_t now_ns) {
  if (!progress(now_ns)) {
    partitions_.clear();
    began_ns_ = now_ns;
  }
  if (from < to) partitions_[partition] = {from, from, to};
}

void CatchUp::note(PartitionId partition, Offset next, uint64_t events) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || found->second.there()) return;
  found->second.next = std::max(found->second.next, next);
  found->second.events = events;
}

uint64_t CatchUp::events() const {
  uint64_t events = 0;
  for (const auto& [id, partition] : partitions_) events += partition.events;
  return events;
}

std::optional<CatchUp::Progress> CatchUp::progress(int64_t now_ns) const {
  Progress left;
  int64_t records_read = 0;
  for (const auto& [id, partition] : partitions_) {
    records_read += std::min(partition.next, partition.to).value - partition.from.value;
    if (partition.there()) continue;
    ++left.partitions;
    left.records_left += static_cast<uint64_t>(partition.to.value - partition.next.value);
  }
  if (left.partitions == 0) return std::nullopt;
  const auto read = static_cast<double>(events());
  if (records_read > 0)
    left.events_left =
        static_cast<uint64_t>(static_cast<double>(left.records_left) * read / static_cast<double>(records_read));
  if (now_ns > began_ns_) left.events_per_second = read / seconds(now_ns);
  if (left.events_per_second > 0) left.seconds_left = static_cast<double>(left.events_left) / left.events_per_second;
  return left;
}

void CatchUpReport::begin(PartitionId partition, Offset from, Offset to) {
  const std::lock_guard lock(mutex_);
  const int64_t now_ns = clock_.steady_ns();
  if (!under_way_) log_due_ns_ = now_ns + kFirstLineNs;
  catch_up_.begin(partition, from, to, now_ns);
  under_way_ = catch_up_.progress(now_ns).has_value();
}

void CatchUpReport::note(PartitionId partition, Offset next, uint64_t events) {
  const std::lock_guard lock(mutex_);
  if (under_way_) catch_up_.note(partition, next, events);
}

void CatchUpReport::remove(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  catch_up_.remove(partition);
}

std::string CatchUpReport::text() {
  const std::lock_guard lock(mutex_);
  if (!under_way_) return {};
  const int64_t now_ns = clock_.steady_ns();
  const auto left = catch_up_.progress(now_ns);
  const CatchUp::Progress shown = left.value_or(CatchUp::Progress{});
  metrics_.gauge(metric::kRebuildEventsLeft, {stage_}).set(static_cast<double>(shown.events_left));
  metrics_.gauge(metric::kRebuildRate, {stage_}).set(shown.events_per_second);
  metrics_.gauge(metric::kRebuildSecondsLeft, {stage_}).set(shown.seconds_left);
  if (!left) {
    if (std::exchange(logged_, false)) {
      log_info(stage_ + " has caught up", {{"stage", stage_},
                                           {"events", catch_up_.events()},
                                           {"seconds", std::round(catch_up_.seconds(now_ns) * 10) / 10}});
    }
    under_way_ = false;
    return {};
  }
  if (now_ns >= log_due_ns_) {
    log_info(stage_ + " catches up: " + sentence(*left),
             {{"stage", stage_}, {"events_per_second", std::llround(left->events_per_second)}});
    log_due_ns_ = now_ns + kLineIntervalNs;
    logged_ = true;
  }
  return sentence(*left);
}

}  // namespace bloomring
