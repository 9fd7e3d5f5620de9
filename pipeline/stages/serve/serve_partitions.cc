#include "pipeline/stages/serve/serve_partitions.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/words.h"
#include "serving/query/candidate_filter.h"
#include "state/slot_length.h"

namespace bloomring {

namespace {
constexpr int kLogEndTimeoutMs = 1'000;
constexpr int kPlaceTimeoutMs = 1'000;
// Between two tries of the partitions that wait, while others are read and must not be delayed.
constexpr int64_t kPlaceIntervalNs = 3'000'000'000;
constexpr int64_t kWarnIntervalNs = 30'000'000'000;
// How often the store is asked for its scenes. A scene that the site declared until lately may still be merged after
// the first read, from partitions that this replica does not hold.
constexpr int64_t kScenesIntervalNs = 600'000'000'000;

// The stored scenes that the site does not declare.
std::set<std::string> other_scenes(std::set<std::string> stored, const SceneRules& rules) {
  const std::vector<std::string> named = rules.part_filters ? rules.declared : std::vector<std::string>{""};
  if (named.empty()) return {};
  for (const std::string& scene : named) stored.erase(scene);
  return stored;
}

void warn_of_others(std::string_view stage, const std::set<std::string>& others, const SceneRules& rules) {
  const std::string why =
      rules.part_filters
          ? "events.scenes lacks scenes of which the filter store has plays. Queries about all scenes read them, "
            "too; add a scene to query it alone"
          : "events.scene is \"\", and the filter store has plays of scenes: no query finds these. Set events.scene "
            "to its earlier field, or replay the plays";
  log_warning("serve: " + why, {{"stage", stage}, {"scenes", joined_names(others)}});
}
}  // namespace

ServePartitions::ServePartitions(const StageContext& context, const std::vector<PartitionId>& ids, Worker& worker)
    : context_(context),
      worker_(worker),
      partitions_max_(std::max<size_t>(1, ids.size())),
      totals_(context.metrics, replica_series()),
      levels_(context.metrics, context.clock, {context.stage(), context.settings.metrics.per_partition}),
      catch_up_(context.stage(), context.clock, context.metrics),
      scene_rules_(context.settings.events.scene_rules()),
      scenes_(scene_rules_) {
  for (const PartitionId id : ids)
    members_[id] = {make_partition(id, {}), nullptr, totals_.share(), {}, "the brokers were not asked yet"};
}

Status ServePartitions::open() {
  kafka::ClientSettings kafka = context_.kafka;
  kafka.queue_memory_bytes = context_.plan.of(MemoryUse::kServeQueue);
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(kafka, partitions_max_, context_.clock));
  return {};
}

std::shared_ptr<ReplicaPartition> ServePartitions::make_partition(PartitionId id, const ReplicaStart& start) {
  const Settings& settings = context_.settings;
  const RecentPlaysConfig recents{settings.ring.slot_ms(),
                                  context_.plan.of(MemoryUse::kRecentPlays) / partitions_max_};
  const ServedItemsConfig served{settings.served.per_user_max, settings.served.max_age_ms(),
                                 context_.plan.of(MemoryUse::kServedItems) / partitions_max_};
  const int64_t log_floor_ms = start.first_hour.value * settings.ring.slot_ms();
  auto partition =
      std::make_shared<ReplicaPartition>(id, recents, context_.calendar, start.merged, served, log_floor_ms);
  partition->set_lost_below(start.lost_below);
  if (scene_rules_.part_filters) partition->set_scenes(&scenes_);
  return partition;
}

Status ServePartitions::tend() {
  BLOOMRING_TRY(consumer_->poll(0));
  take_aside();
  ask_log_ends();
  BLOOMRING_TRY(place());
  read_scenes();
  return {};
}

// Runs after the watermarks were read. Partitions do not read their logs below these, and scenes below them are in the
// store.
void ServePartitions::read_scenes() {
  const bool due = !scenes_.stored_noted() || context_.clock.steady_ns() >= read_scenes_at_ns_;
  if (!scenes_read_ && due && !placed().empty()) begin_scenes();
  if (!scenes_read_) return;
  std::optional<Result<std::set<std::string>>> ended;
  {
    const std::lock_guard lock(scenes_read_->mutex);
    ended.swap(scenes_read_->ended);
  }
  if (!ended) return;  // A large store takes its time; log ends are asked for meanwhile.
  scenes_read_.reset();
  if (ended->ok() && !scenes_expected_again_) take_scenes(**ended);
}

void ServePartitions::begin_scenes() {
  scenes_expected_again_ = false;
  scenes_read_ = std::make_shared<ScenesRead>();  // Shared with the reader.
  context_.stores.reader->begin_scenes([read = scenes_read_](Result<std::set<std::string>> scenes) {
    const std::lock_guard lock(read->mutex);
    read->ended = std::move(scenes);
  });
}

void ServePartitions::take_scenes(const std::set<std::string>& stored) {
  read_scenes_at_ns_ = context_.clock.steady_ns() + kScenesIntervalNs;
  scenes_.note_stored(stored);
  if (auto others = other_scenes(stored, scene_rules_); others != others_told_) {
    if (!others.empty()) warn_of_others(context_.row.name, others, scene_rules_);
    others_told_ = std::move(others);
  }
}

AllScenes ServePartitions::scenes() const {
  if (scene_rules_.declares()) return scenes_.all();
  return scenes_.all([this] { return why_behind(); });
}

// Why a partition may have a scene that is not noted yet; empty where none may.
std::string ServePartitions::why_behind() const {
  const std::lock_guard lock(mutex_);
  const uint32_t partitions = context_.settings.topics.partitions;
  if (members_.size() < partitions) {
    return "this replica holds " + std::to_string(members_.size()) + " of " + std::to_string(partitions) +
           " partitions, and others may have scenes that it does not know; declare events.scenes";
  }
  const int64_t now_ns = context_.clock.steady_ns();
  for (const auto& [id, member] : members_) {
    const bool known = member.partition->ready() && member.partition->joins_filters() &&
                       member.partition->lag_ms(now_ns) <= CandidateFilterConfig().lag_max_ms;
    if (!known) return kafka::to_string(at(id)) + " is behind, and may have a scene that is not known";
  }
  return {};
}

std::vector<PartitionId> ServePartitions::waiting() const {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionId> ids;
  for (const auto& [id, member] : members_) {
    if (!member.task && std::ranges::find(aside_, id) == aside_.end()) ids.push_back(id);
  }
  return ids;
}

std::vector<PartitionId> ServePartitions::placed() const {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionId> ids;
  for (const auto& [id, member] : members_) {
    if (member.task) ids.push_back(id);
  }
  return ids;
}

// With the records behind an open transaction: nobody can read them yet, and a replica that lacks them is behind.
std::vector<Result<Offset>> ServePartitions::written_ends(const std::vector<kafka::TopicPartition>& partitions) {
  return consumer_->log_ends(partitions, kLogEndTimeoutMs, kafka::AssignedConsumer::LogEnd::kForWriters);
}

// A partition without an answer here becomes stale: see ReplicaTask.
void ServePartitions::ask_log_ends() {
  const std::vector<PartitionId> ids = placed();
  if (ids.empty()) return;
  std::vector<kafka::TopicPartition> partitions;
  for (const PartitionId id : ids) partitions.push_back(at(id));
  const int64_t asked_at_ns = context_.clock.steady_ns();
  worker_.post([this, ids, asked_at_ns, ends = written_ends(partitions)] {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < ids.size(); ++i) {
      ReplicaTask* task = members_.at(ids[i]).task.get();
      if (task == nullptr || !ends[i].ok()) continue;
      task->update_log_end(*ends[i], asked_at_ns);
      levels_.update_log_end(at(ids[i]), *ends[i], asked_at_ns);
    }
  });
}

// A partition waits until the store returns its watermark: without one the replica would hold the whole log in memory.
// Watermarks are read first, so that the ends of the logs, asked afterwards, are not below them.
Status ServePartitions::place() {
  const std::vector<PartitionId> ids = waiting();
  const int64_t asked_at_ns = context_.clock.steady_ns();
  if (ids.empty() || asked_at_ns < place_at_ns_) return {};
  const Settings& settings = context_.settings;
  // The event time of a serve may be ahead of the log's time.
  const int64_t age_max_ms = settings.served.max_age_ms() + context_.calendar.config().ahead_ms;
  std::vector<Result<std::optional<MergedWatermark>>> watermarks;
  std::vector<kafka::TopicPartition> partitions;
  std::vector<int64_t> young_ms;
  for (const PartitionId id : ids) {
    watermarks.push_back(context_.stores.reader->read_watermark(id));
    const auto watermark = watermarks.back().ok() ? *watermarks.back() : std::nullopt;
    const int64_t stored_ms = watermark ? watermark->slot_ms : 0;
    BLOOMRING_TRY(check_slot_length(stored_ms, settings.ring.slot_ms(), "the merged watermark"));
    partitions.push_back(at(id));
    young_ms.push_back(
        served_since_ms(watermark, settings.ring.slot_ms(), context_.clock.now_ms(), age_max_ms));
  }
  const auto facts = consumer_->facts_of_each(partitions, kPlaceTimeoutMs);
  const auto young = consumer_->offsets_at(partitions, young_ms, kPlaceTimeoutMs);
  const auto written = written_ends(partitions);
  const bool warn = asked_at_ns >= warn_at_ns_;
  std::vector<PartitionStart> starts;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Result<ReplicaStart> start = decide(watermarks[i], facts[i], young[i]);
    if (start.ok()) {
      starts.push_back({ids[i], *start, facts[i]->log_end, written[i], asked_at_ns});
    } else {
      wait_because(ids[i], start.status(), warn);
    }
  }
  if (warn && starts.size() < ids.size()) warn_at_ns_ = asked_at_ns + kWarnIntervalNs;
  BLOOMRING_TRY(begin(starts));
  if (!placed().empty()) place_at_ns_ = context_.clock.steady_ns() + kPlaceIntervalNs;
  return {};
}

Result<ReplicaStart> ServePartitions::decide(const Result<std::optional<MergedWatermark>>& watermark,
                                             const Result<kafka::PartitionFacts>& facts,
                                             const Result<std::optional<Offset>>& young) {
  if (!watermark.ok()) return watermark.status().with_context("the filter store does not tell what is merged");
  BLOOMRING_TRY(facts.status());
  BLOOMRING_TRY(young.status());
  return decide_replica_start({{*watermark, facts->log_start, facts->log_end}, *young});
}

void ServePartitions::wait_because(PartitionId id, const Status& why, bool warn) {
  if (warn) {
    log_warning("serve: a partition is not answered for", {{"stage", context_.row.name},
                                                           {"topic", at(id).topic},
                                                           {"partition", id.value},
                                                           {"code", code_name(why.code())},
                                                           {"reason", why.message()}});
  }
  const std::lock_guard lock(mutex_);
  members_.at(id).why_waiting = why.message();
}

Status ServePartitions::begin(const std::vector<PartitionStart>& starts) {
  if (starts.empty()) return {};
  std::vector<kafka::AssignedConsumer::Start> assigned;
  for (const PartitionStart& one : starts) assigned.push_back({at(one.id), one.start.read_from});
  BLOOMRING_TRY_ASSIGN(std::vector<std::unique_ptr<Source>> sources, consumer_->assign(assigned));
  scenes_.expect_stored();
  scenes_expected_again_ = true;
  int64_t to_go = 0;
  for (const PartitionStart& one : starts) to_go += std::max<int64_t>(0, one.log_end.value - one.start.read_from.value);
  log_info("serve begins with its partitions", {{"stage", context_.row.name},
                                                {"topic", context_.settings.topics.name(TopicRole::kUserEvents)},
                                                {"partitions", starts.size()},
                                                {"records_to_go", to_go}});
  const ReplicaTaskConfig config{context_.settings.topics.partitions, context_.settings.ring.lap_ms()};
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto& [id, start, log_end, written, asked_at_ns] = starts[i];
    log_debug("serve: begins", {{"stage", context_.row.name},
                                {"topic", at(id).topic},
                                {"partition", id.value},
                                {"offset", start.read_from.value},
                                {"log_end", log_end.value}});
    auto partition = make_partition(id, start);
    auto task = std::make_unique<ReplicaTask>(config, context_.clock, partition, *context_.stores.reader,
                                              std::move(sources[i]), start.read_from, log_end);
    if (written.ok()) task->update_log_end(*written, asked_at_ns);
    catch_up_.begin(id, start.read_from, log_end);
    const std::lock_guard lock(mutex_);
    Member& member = members_.at(id);
    task->know(member.watermark);
    worker_.post([this, added = task.get(), name = "serve " + kafka::to_string(at(id))] { worker_.add(*added, name); });
    member = {std::move(partition), std::move(task), totals_.share(), member.watermark, {}};
  }
  return {};
}

void ServePartitions::take_aside() {
  const std::lock_guard lock(mutex_);
  for (const PartitionId id : std::exchange(aside_, {})) consumer_->release(at(id));
}

ServePartitions::Readiness ServePartitions::report() {
  Readiness readiness;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, member] : members_) {
      if (member.task) report(id, member);
      if (!member.task) {
        if (readiness.waiting++ == 0) readiness.why = kafka::to_string(at(id)) + ": " + member.why_waiting;
      } else {
        ++(member.partition->ready() ? readiness.ready : readiness.catching_up);
      }
    }
  }
  readiness.to_go = catch_up_.text();
  Metrics& metrics = context_.metrics;
  metrics.gauge(metric::kServePartitions, {"ready"}).set(static_cast<double>(readiness.ready));
  metrics.gauge(metric::kServePartitions, {"catching_up"}).set(static_cast<double>(readiness.catching_up));
  metrics.gauge(metric::kServePartitions, {"waiting"}).set(static_cast<double>(readiness.waiting));
  return readiness;
}

void ServePartitions::report(PartitionId id, Member& member) {
  Metrics& metrics = context_.metrics;
  ReplicaTask& task = *member.task;
  const ReplicaCounts counts{task.stats(), member.partition->recents().stats().early_releases,
                             member.partition->served().stats().shortened};
  member.counted.set(counts);
  catch_up_.note(id, task.next(), counts.events);
  levels_.set(context_.settings.topics.name(TopicRole::kUserEvents), id, {task.next(), Offset(-1), task.log_end()});
  for (const ReplicaTask::Delay& delay : task.take_delays())
    metrics.histogram(metric::kEventToSeen).observe(delay.seconds, delay.events);
  if (!task.ended().ok()) set_aside(id, member);
}

// The replica has refused or forwarded calls about the partition since the task ended.
void ServePartitions::set_aside(PartitionId id, Member& member) {
  member.why_waiting = member.task->ended().message();
  member.watermark = member.task->watermark();
  log_error("serve: a partition is not answered for any more", {{"stage", context_.row.name},
                                                                {"topic", at(id).topic},
                                                                {"partition", id.value},
                                                                {"offset", member.task->next().value},
                                                                {"code", code_name(member.task->ended().code())},
                                                                {"reason", member.why_waiting}});
  worker_.remove(*member.task);
  member.task.reset();
  levels_.remove(context_.settings.topics.name(TopicRole::kUserEvents), id, /*lost=*/false);
  catch_up_.remove(id);
  aside_.push_back(id);
}

void ServePartitions::close() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, member] : members_) {
    if (member.task) worker_.remove(*member.task);
    member.task.reset();
  }
}

std::shared_ptr<ReplicaPartition> ServePartitions::find(PartitionId partition) const {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(partition);
  return found == members_.end() ? nullptr : found->second.partition;
}

void ServePartitions::for_each(const std::function<void(const ReplicaPartition&)>& take) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, member] : members_) take(*member.partition);
}

}  // namespace bloomring
