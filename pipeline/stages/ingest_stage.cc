#include "pipeline/stages/ingest_stage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "base/words.h"
#include "pipeline/runtime/leased.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

constexpr int64_t kReportIntervalMs = 250;
constexpr const char* kClockPart = "ingest-clock";   // Of the process's health, while it is wrong.
constexpr const char* kRefusedPart = "ingest-plays";  // Of the process's health, while too many are refused.
constexpr const char* kEventsPart = "ingest-events";  // While it passes over users' plays.
// How often to ask the brokers, in ms, for partitions that a site adds to its topics of plays while we run: their
// plays count for freshness from the first. Taking up a new partition is a rebalance of the group.
constexpr const char* kPartitionsAskedMs = "5000";
constexpr size_t kPlayQueueOverhead = 4;  // A play of 110 bytes takes 410 in librdkafka's queue.
// How long a revoked partition may wait for acknowledgements of its records. Its next owner reads records again that
// were not acknowledged by then.
constexpr int64_t kReleasePatienceMs = 10'000;

// A static member that comes back gets its old partitions, even if it subscribes to other topics now (Kafka compares
// only the name of the assignor). So a member with other topics has another instance id.
std::string name_of(std::vector<std::string> topics) {
  std::ranges::sort(topics);
  std::string all;
  for (const std::string& topic : topics) all += topic + "\n";
  return std::to_string(hash_bytes(all, 0) % 1'000'000);
}

}  // namespace

IngestTaskConfig ingest_task_config(const Settings& settings) {
  IngestTaskConfig config;
  config.ingest.mapping = settings.events.mapping();
  config.ingest.partition_count = settings.topics.partitions;
  config.ingest.block_events = settings.ingest.block_events;
  config.ingest.block_bytes = settings.ingest.block_bytes;
  config.ingest.linger_ms = settings.ingest.linger_ms;
  config.ingest.drop_repeats = settings.ingest.drop_repeats;
  config.events_topic = settings.topics.name(TopicRole::kUserEvents);
  config.dead_topic = settings.topics.name(TopicRole::kDeadLetters);
  config.clock_skew_max_ms = int64_t{settings.events.clock_skew_max_seconds} * 1000;
  config.lane_in_flight_max = std::max(config.lane_in_flight_max, config.in_flight_max / settings.topics.partitions);
  return config;
}

IngestStage::IngestStage(const StageContext& context)
    : context_(context),
      lease_(context.clock, kafka::standstill_max_ms(context.kafka)),
      totals_(context.metrics, ingest_series()),
      levels_(context.metrics, context.clock, levels_config(context)),
      counted_(totals_.share()),
      refusals_(context.settings.ingest.refused_share_max),
      task_(std::make_unique<IngestTask>(ingest_task_config(context.settings), context.clock,
                                         std::make_unique<LeasedSink>(lease_, context.producer.make_sink()))),
      worker_(
          context_.stage(), context_.clock,
          [this](const Status& status) { context_.on_failure(context_.row.name, status); },
          &context_.watchdog),
      poll_worker_(
          context_.stage() + "-poll", context_.clock,
          [this](const Status& status) { context_.on_failure(context_.row.name, status); },
          &context_.watchdog),
      poller_(poll_worker_, lease_, context_.metrics, context_.health, context_.stage()) {
  worker_.set_ticker(kReportIntervalMs, [this] { report(); });
  worker_.call([this] { worker_.add(*task_, context_.stage()); });
}

void IngestStage::claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims) {
  // A partition's queue that is smaller stalls for a second again and again (librdkafka 2.0.2); a larger one gains
  // nothing.
  constexpr uint64_t kQueueLeast = 2 * kMiB, kQueueMost = 64 * kMiB;
  // A site's topic may have more partitions than bloomring would make. The others of them get what the smallest queue
  // takes (queue_bounds of pipeline/kafka/client.cc: 64 KiB and 64 KiB, times four): each has few plays, and may stall.
  constexpr uint64_t kQueueSmallest = kMiB / 2;
  const uint64_t of_size = std::min(counts.plays, plays_made(settings));
  const uint64_t least = std::max(of_size * kQueueLeast, counts.plays * kQueueSmallest);
  claims.push_back({MemoryUse::kIngestQueue, "ingest queue", least, 5, counts.plays * kQueueMost});
  const uint64_t open = uint64_t{settings.topics.partitions} * settings.ingest.block_bytes;
  claims.push_back({MemoryUse::kIngestBlocks, "ingest blocks", open + open / 4});
}

Status IngestStage::start() {
  kafka::ClientSettings group = group_settings(context_, MemoryUse::kIngestQueue);
  group.queue_overhead = kPlayQueueOverhead;
  group.instance_id += "-" + name_of(context_.settings.topics.plays());
  group.properties.try_emplace("topic.metadata.refresh.interval.ms", kPartitionsAskedMs);
  const auto join = [&] { return poller_.start(group, context_.settings.topics.plays(), *this, context_.clock); };
  return context_.start_wait.until("the brokers to describe the topics of plays", join).with_context(context_.stage());
}

void IngestStage::stop(StopMode mode) {
  poller_.stop(mode);
  worker_.call([this] { worker_.remove(*task_); });
}

Result<Offset> IngestStage::on_assign(const kafka::TopicPartition& at, const kafka::PartitionFacts& facts,
                                      std::unique_ptr<Source> source) {
  const Offset start = facts.committed.value_or(facts.log_start);
  if (start < facts.log_start) {
    return fatal(kafka::to_string(at) + ": " + std::to_string(facts.log_start.value - start.value) +
                 " plays from offset " + std::to_string(start.value) +
                 " were never read and are no longer in the log, which starts at " +
                 std::to_string(facts.log_start.value) +
                 ": retention is too short. To go on without them, set the group's offset by hand "
                 "(kafka-consumer-groups --reset-offsets)");
  }
  if (start > facts.log_end) {  // Or a broker that was stopped answers with an older log.
    return retry(kafka::to_string(at) + ": the group's offset " + std::to_string(start.value) +
                 " lies beyond the log's end " + std::to_string(facts.log_end.value) +
                 ": the topic was made again. Set the group's offset by hand");
  }
  lease_.take();
  worker_.call([&] { task_->add_source(at.topic, at.partition, start, std::move(source)); });
  return start;
}

void IngestStage::on_revoke(std::span<const kafka::TopicPartition> partitions, bool lost) {
  worker_.call([&] {
    if (!lost) finish_what_was_read();
    report();
    task_->drop_sources(lost);
    levels_.remove_all(lost);
  });
  context_.metrics.counter(metric::kRebalances, {context_.row.name, lost ? "lost" : "revoke"}).add(partitions.size());
}

// Runs on the worker: steps the task by hand until everything is acknowledged.
void IngestStage::finish_what_was_read() {
  task_->begin_release();
  const Status finished = wait_until(context_.clock, kReleasePatienceMs, "the broker to acknowledge what was read",
                                     [this]() -> Result<bool> {
                                       BLOOMRING_TRY(task_->step(context_.clock.now_ms()).status());
                                       return task_->released();
                                     });
  if (finished.ok()) return;
  log_warning("ingest: " + finished.message() + "; it will be read again",
              {{"stage", context_.row.name}, {"code", code_name(finished.code())}});
}

// The levels before the counts, and a scrape reads the counts before the levels (totals_ was made first): a reader who
// sees a record counted also sees it as not committed yet.
void IngestStage::report() {
  for (const IngestTask::SourceView& source : task_->sources()) {
    levels_.set(source.topic, source.partition, {source.next, source.committed, source.log_end});
  }
  const IngestStats& now = task_->ingest().stats();
  counted_.set(now);
  report_refused(now);
  report_clock();
  report_passed_over();
}

void IngestStage::report_refused(const IngestStats& stats) {
  const uint64_t refused_ever = stats.refused_in_all();
  const uint64_t read_ever = stats.accepted + stats.repeats + stats.skipped_in_all() + refused_ever;
  const uint64_t read = read_ever - std::exchange(read_seen_, read_ever);
  const uint64_t refused = refused_ever - std::exchange(refused_seen_, refused_ever);
  const int64_t now_ms = context_.clock.steady_ns() / 1'000'000;
  refusals_.note(now_ms, read, refused, task_->take_first_refused().value_or(RefusedRecord{}));
  context_.metrics.gauge(metric::kIngestRefusedShare).set(refusals_.share(now_ms));
  if (const auto warning = refusals_.take_warning(now_ms)) {
    log_warning("play records were refused: each is in the dead-letter topic with its reason; `bloomring check` "
                "reads the newest plays and lists the refusals",
                {{"stage", context_.row.name},
                 {"refused", warning->refused},
                 {"read", warning->read},
                 {"first", to_string(warning->first)},
                 {"dead", context_.settings.topics.name(TopicRole::kDeadLetters)}});
  }
  const bool degraded = refusals_.degraded(now_ms);
  if (degraded) {
    const std::string percent = std::to_string(std::lround(100 * refusals_.share(now_ms)));
    context_.health.set_ready(kRefusedPart, percent + " % of the play records of the last minute were refused, as " +
                                                to_string(refusals_.last()));
  } else if (degraded_) {
    context_.health.clear(kRefusedPart);
  }
  degraded_ = degraded;
}

void IngestStage::report_passed_over() {
  std::vector<PartitionId> now = task_->passed_over();
  if (now == passed_over_) return;
  const std::string& topic = context_.settings.topics.name(TopicRole::kUserEvents);
  std::vector<std::string> names;
  for (const PartitionId partition : now) {
    const std::string name = names.emplace_back(kafka::to_string({topic, partition}));
    if (std::ranges::find(passed_over_, partition) != passed_over_.end()) continue;
    log_warning("ingest: nothing written to " + name +
                    " was acknowledged for seconds (does it have a leader, and enough replicas in sync?): ingest "
                    "skips plays of its users, does not commit them, and reads them again when the partition takes "
                    "records again",
                {{"stage", context_.row.name}, {"topic", topic}, {"partition", partition.value}});
  }
  for (const PartitionId partition : std::exchange(passed_over_, std::move(now))) {
    if (std::ranges::find(passed_over_, partition) != passed_over_.end()) continue;
    log_info("ingest: a partition takes records again; ingest reads the skipped plays of its users again",
             {{"stage", context_.row.name}, {"topic", topic}, {"partition", partition.value}});
  }
  if (names.empty()) return context_.health.clear(kEventsPart);
  context_.health.set_ready(kEventsPart, "nothing can be written to " + joined(names) + "; plays of its users wait");
}

void IngestStage::report_clock() {
  const IngestClock& clock = task_->clock();
  if (!clock.offset_ms()) return;
  const double offset_s = static_cast<double>(*clock.offset_ms()) / 1000.0;
  context_.metrics.gauge(metric::kIngestClockOffset).set(offset_s);
  const bool off = clock.state() == IngestClock::State::kOff;
  if (off == clock_off_) return;
  clock_off_ = off;
  if (!off) {
    log_warning("ingest: this machine's clock and the brokers' agree again; plays are read",
                {{"stage", context_.row.name}});
    return context_.health.clear(kClockPart);
  }
  const std::string what = "this machine's clock is " + std::to_string(offset_s) +
                           " s ahead of the brokers' (behind, where negative); no plays are read until both agree "
                           "within events.clock_skew_max_seconds. Set the clock that is wrong";
  log_error("ingest: " + what, {{"stage", context_.row.name}});
  context_.health.set_not_ready(kClockPart, what);
}

}  // namespace bloomring
