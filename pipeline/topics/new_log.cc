#include "pipeline/topics/new_log.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/log.h"
#include "operators/merge_start.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/runtime/wait.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/tasks/unread_batches.h"

namespace bloomring {

namespace {

// The stages of the filter view, the one view whose batches this knows.
constexpr std::string_view kWindowStage = "window", kMergeStage = "merge";
constexpr size_t kQueueMemoryBytes = 64 << 20;
constexpr int kAskTimeoutMs = 10'000;
constexpr int kPollMs = 20;
constexpr int64_t kSilenceMaxMs = 60'000;  // Without a record, while some are unread.
constexpr int64_t kLeaveMarginMs = 10'000;

// The state of user-batches from the view of its merge group.
struct Batches {
  std::unique_ptr<kafka::AssignedConsumer> consumer;
  std::vector<kafka::TopicPartition> partitions;
  std::vector<Offset> read_from;  // Where the merge stage would start.
  std::vector<Offset> ends;

  uint64_t unread(size_t p) const { return static_cast<uint64_t>(ends[p].value - read_from[p].value); }
};

Result<Batches> find_batches(const Settings& settings, const Clock& clock) {
  kafka::ClientSettings client = client_settings(settings);
  client.group = settings.kafka.group(kMergeStage);
  client.queue_memory_bytes = kQueueMemoryBytes;
  Batches batches;
  BLOOMRING_TRY_ASSIGN(batches.consumer, kafka::AssignedConsumer::create(client, settings.topics.partitions, clock));
  for (uint32_t p = 0; p < settings.topics.partitions; ++p)
    batches.partitions.push_back({settings.topics.name(TopicRole::kUserBatches), PartitionId(static_cast<int32_t>(p))});
  for (auto& log : batches.consumer->group_facts(batches.partitions, kAskTimeoutMs)) {
    if (!log.ok())
      return std::move(log).status().with_context(kafka::to_string(batches.partitions[batches.ends.size()]));
    batches.read_from.push_back(decide_merge_start({log->committed, log->log_start, log->log_end}).read_from);
    batches.ends.push_back(log->log_end);
  }
  return batches;
}

// A stopped member stays in the group until its session times out.
Status wait_until_left(const Settings& settings, kafka::Admin& admin, std::string_view stage, const Clock& clock) {
  const std::string group = settings.kafka.group(stage);
  BLOOMRING_TRY_ASSIGN(size_t members, admin.group_members(group));
  if (members == 0) return {};
  log_info("waiting for the members of a group to be gone", {{"group", group}, {"members", members}});
  const int64_t bound_ms = 2 * kafka::standstill_max_ms(client_settings(settings)) + kLeaveMarginMs;
  const Status left = wait_until(clock, bound_ms, "group " + group + " to be empty", [&]() -> Result<bool> {
    BLOOMRING_TRY_ASSIGN(members, admin.group_members(group));
    return members == 0;
  });
  if (left.ok() || members == 0) return left;
  return retry("group " + group + " still has " + std::to_string(members) +
               " members: stop the " + std::string(stage) + " stage of every process, then run this again");
}

Result<OldLogCounts> merge_unread(const Settings& settings, const Calendar& calendar, const FilterStores& stores,
                                  const Clock& clock, Batches& batches) {
  std::vector<size_t> unread;
  std::vector<kafka::AssignedConsumer::Start> starts;
  for (size_t p = 0; p < batches.partitions.size(); ++p) {
    if (batches.unread(p) == 0) continue;
    unread.push_back(p);
    starts.push_back({batches.partitions[p], batches.read_from[p]});
  }
  OldLogCounts merged;
  if (unread.empty()) return merged;
  BLOOMRING_TRY_ASSIGN(auto sources, batches.consumer->assign(starts));
  BLOOMRING_TRY_ASSIGN(const auto key, stores.reader->slot_end_key());
  std::deque<UnreadBatches> all;
  for (size_t i = 0; i < unread.size(); ++i) {
    const PartitionId partition = batches.partitions[unread[i]].partition;
    BLOOMRING_TRY_ASSIGN(auto watermark, stores.reader->read_watermark(partition));
    BLOOMRING_TRY_ASSIGN(auto writer, stores.writer->take_over(partition));
    merged.records += batches.unread(unread[i]);
    const MergeConfig config{partition, settings.topics.partitions, settings.ring.slot_ms(), key.value_or(SumKey{})};
    all.emplace_back(config, calendar, std::move(writer), std::move(watermark), std::move(sources[i]),
                     batches.ends[unread[i]]);
  }
  const std::string& topic = settings.topics.name(TopicRole::kUserBatches);
  log_info("merging the unread records", {{"topic", topic}, {"records", merged.records}});
  int64_t last_record_ns = clock.steady_ns();
  while (!std::ranges::all_of(all, &UnreadBatches::done)) {
    bool worked = false;
    for (UnreadBatches& one : all) {
      BLOOMRING_TRY_ASSIGN(const bool any, one.step(clock.now_ms()));
      worked |= any;
    }
    BLOOMRING_TRY(batches.consumer->poll(worked ? 0 : kPollMs));
    if (worked) last_record_ns = clock.steady_ns();
    if (clock.steady_ns() - last_record_ns > kSilenceMaxMs * 1'000'000)
      return retry("the brokers give no record of " + topic + ", although some are unread");
  }
  for (const UnreadBatches& one : all) {
    merged.plays += one.stats().plays;
    merged.refused += one.refused();
  }
  return merged;
}

}  // namespace

Result<uint64_t> count_unread_batches(const Settings& settings, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Batches batches, find_batches(settings, clock));
  uint64_t records = 0;
  for (size_t p = 0; p < batches.partitions.size(); ++p) records += batches.unread(p);
  return records;
}

Result<OldLogCounts> end_old_log(const Settings& settings, const Calendar& calendar, const FilterStores& stores,
                                 const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<kafka::Admin> admin, kafka::Admin::create(client_settings(settings)));
  for (const std::string_view stage : {kWindowStage, kMergeStage})
    BLOOMRING_TRY(wait_until_left(settings, *admin, stage, clock));
  BLOOMRING_TRY_ASSIGN(Batches batches, find_batches(settings, clock));
  BLOOMRING_TRY_ASSIGN(const OldLogCounts merged, merge_unread(settings, calendar, stores, clock, batches));
  std::vector<kafka::Admin::Below> read;
  for (size_t p = 0; p < batches.partitions.size(); ++p) read.push_back({batches.partitions[p], batches.ends[p]});
  BLOOMRING_TRY(admin->delete_records(read));
  BLOOMRING_TRY(stores.admin->begin_new_log());
  return merged;
}

}  // namespace bloomring
