#include "cli/dev/dev_world.h"

#include <set>
#include <sstream>

#include "cli/calls/query_command.h"
#include "load/play_template.h"
#include "pipeline/runtime/wait.h"
#include "pipeline/tasks/ingest_metrics.h"
#include "pipeline/tasks/merge_metrics.h"
#include "pipeline/tasks/window_metrics.h"
#include "pipeline/topics/topic_check.h"
#include "schemas/json/play_json.h"
#include "state/window/ring.h"

namespace bloomring {

namespace {

constexpr int32_t kPlaysPartitions = 4;
constexpr uint64_t kUnreadMax = 20'000;  // Plays sent and not yet read: about 2 MiB of the broker's 5 MiB a partition.
constexpr int64_t kReadyBoundMs = 60'000;  // The embedded broker takes 3 s to 10 s for three groups.
constexpr size_t kProbesPerUser = 1'600;   // Of items never played: above a million for 664 users.
constexpr int64_t kQueryDeadlineMs = 10'000;

}  // namespace

Result<std::unique_ptr<DevWorld>> DevWorld::make(Settings settings, const std::string& configuration,
                                                 const Clock& clock, std::function<bool()> interrupted) {
  std::unique_ptr<DevWorld> world(new DevWorld(clock, std::move(interrupted)));
  BLOOMRING_TRY_ASSIGN(world->broker_, kafka::EmbeddedBroker::create());
  for (const TopicSpec& topic : topics_of(settings)) {
    const int32_t partitions = topic.of_the_site() ? kPlaysPartitions : topic.partitions;
    BLOOMRING_TRY(world->broker_->create_topic(topic.name, partitions));
  }
  const kafka::ClientSettings kafka = world->broker_->settings();
  settings.kafka.bootstrap = kafka.bootstrap;
  settings.kafka.properties = kafka.properties;
  world->settings_ = settings;
  BLOOMRING_TRY_ASSIGN(world->producer_, kafka::Producer::create(kafka));
  BLOOMRING_TRY_ASSIGN(world->lookup_, kafka::AssignedConsumer::create(kafka, settings.topics.partitions, clock));
  world->process_ = std::make_unique<Process>(world->settings_, clock);
  world->process_->show_configuration(configuration);
  BLOOMRING_TRY(world->process_->start());
  return world;
}

DevWorld::~DevWorld() {
  if (process_) process_->stop();
}

Status DevWorld::wait_for(const std::function<Result<bool>()>& condition, int64_t bound_ms, const std::string& what) {
  return wait_until(clock_, bound_ms, what, [&]() -> Result<bool> {
    BLOOMRING_TRY_ASSIGN(const bool met, condition());
    if (met) return true;
    if (const auto failure = process_->failure()) return *failure;
    if (interrupted_()) return retry("interrupted while waiting for " + what);
    return false;
  });
}

Status DevWorld::wait_ready() {
  return wait_for([this] { return process_->ready(); }, kReadyBoundMs, "all stages to be ready");
}

uint64_t DevWorld::count(const MetricDecl& decl, LabelValues labels) {
  return static_cast<uint64_t>(process_->metrics().value(decl, labels));
}

uint64_t DevWorld::plays_read() {
  uint64_t read = 0;
  for (const char* result : {"accepted", "refused", "repeat", "skipped"})
    read += count(metric::kIngestRecords, {result});
  return read;
}

uint64_t DevWorld::plays_refused() { return count(metric::kIngestRecords, {"refused"}); }

Status DevWorld::feed(const std::vector<std::string>& json) {
  const std::unique_ptr<Sink> sink = producer_->make_sink();
  const std::string& topic = settings_.topics.plays().front();
  BLOOMRING_TRY(producer_->verify_topic(topic, 0));
  std::vector<uint64_t> acks;
  const uint64_t read_before = plays_read();
  uint64_t read = read_before;  // As last asked; each question is a scrape.
  const int64_t bound_ms = 60'000;
  for (size_t sent = 0; sent < json.size();) {
    OutRecord record{topic, PartitionId(static_cast<int32_t>(sent % kPlaysPartitions)), {}, json[sent], {}};
    const auto room_left = [&] { return sent - (read - read_before) < kUnreadMax; };
    if (!room_left()) read = plays_read();
    const bool room = room_left();
    const Status status = room ? sink->send(record, sent) : retry("ingest is behind");
    if (status.ok()) {
      ++sent;
      continue;
    }
    if (status.code() != Code::kRetry) return status;
    read = plays_read();
    BLOOMRING_TRY(wait_for([&] { return plays_read() > read; }, bound_ms, "ingest to read"));
    BLOOMRING_TRY(sink->poll_acks(acks));
  }
  return wait_for([&] { return plays_read() - read_before >= json.size(); }, bound_ms, "ingest to read every play");
}

Result<bool> DevWorld::all_merged() {
  std::vector<kafka::TopicPartition> partitions;
  for (uint32_t p = 0; p < settings_.topics.partitions; ++p) {
    partitions.push_back({settings_.topics.name(TopicRole::kUserEvents), PartitionId(static_cast<int32_t>(p))});
  }
  BLOOMRING_TRY_ASSIGN(const std::vector<kafka::PartitionFacts> facts, lookup_->facts(partitions));
  for (size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].log_end == Offset(0)) continue;
    BLOOMRING_TRY_ASSIGN(const std::optional<MergedWatermark> watermark,
                         process_->stores().reader->read_watermark(partitions[i].partition));
    if (!watermark || watermark->offset < facts[i].log_end) return false;
  }
  return true;
}

double DevWorld::recent_plays() const {
  double plays = 0;
  for (const StageStatus& stage : process_->status()) {
    if (const auto found = stage.numbers.find("recent_plays"); found != stage.numbers.end()) plays += found->second;
  }
  return plays;
}

Status DevWorld::wait_until_merged() {
  const int64_t bound_ms = 60'000 + settings_.ring.lap_ms() * 2;
  BLOOMRING_TRY(wait_for([this] { return all_merged(); }, bound_ms, "the ring to turn until everything is merged"));
  return wait_for([this] { return recent_plays() == 0; }, bound_ms,
                  "a lap to pass, so that filters alone answer");
}

Status DevWorld::check_user(Client& client, const std::string& user, const std::set<std::string>& played,
                            DevCheck& check) {
  FilterCall call;
  call.user = user;
  call.scene = PlayTemplate(settings_.events.mapping()).scene();
  call.strict = true;
  call.items.assign(played.begin(), played.end());
  for (size_t i = 0; i < kProbesPerUser; ++i) call.items.push_back("never-" + std::to_string(i));
  BLOOMRING_TRY_ASSIGN(const FilterReply reply, client.filter(call));
  for (size_t i = 0; i < reply.items.size(); ++i) {
    if (i < played.size()) {
      check.unseen += !reply.items[i].seen;
    } else {
      check.false_positives += reply.items[i].seen;
    }
  }
  ++check.users;
  check.played += played.size();
  check.probes += kProbesPerUser;
  check.expected += reply.expected_error * kProbesPerUser;
  return {};
}

Result<DevCheck> DevWorld::check(const PlayFile& file) {
  const auto client =
      Client::connect({.server = process_->grpc_address(), .deadline_ms = kQueryDeadlineMs, .fail_open = false});
  DevCheck check;
  for (const auto& [user, played] : file.played) BLOOMRING_TRY(check_user(*client, user, played, check));
  return check;
}

std::string DevWorld::query_line(const std::string& user, const std::vector<std::string>& items) {
  QueryOptions options;
  options.server = process_->grpc_address();
  options.user = user;
  options.scene = PlayTemplate(settings_.events.mapping()).scene();
  options.items = items;
  std::istringstream in;
  std::ostringstream out;
  query(options, in, out, out);
  return out.str();
}

std::string DevWorld::summary() {
  std::ostringstream out;
  out << "plays read      " << plays_read() << " (" << count(metric::kIngestRecords, {"accepted"}) << " accepted, "
      << count(metric::kIngestRecords, {"repeat"}) << " repeats, " << count(metric::kIngestRecords, {"skipped"})
      << " skipped, " << count(metric::kIngestRecords, {"refused"}) << " refused)\n";
  for (size_t i = 1; i < kRefusalCount; ++i) {
    const std::string_view reason = refusal_name(static_cast<Refusal>(i));
    if (const uint64_t refused = count(metric::kIngestRefused, {reason}))
      out << "  refused       " << reason << ": " << refused << "\n";
  }
  uint64_t filters = 0;
  uint64_t filter_bytes = 0;
  std::set<std::string> users;
  const Status scanned = process_->stores().admin->scan([&](const StoredFilter& stored, std::string_view user_key) {
    ++filters;
    users.emplace(UserKey::from_bytes(user_key).user());
    filter_bytes += stored.value.size();
    return true;
  });
  out << "users           " << users.size() << "\n";
  out << "event blocks    " << count(metric::kBlocks) << ", " << count(metric::kBlockBytes) << " bytes\n";
  out << "the ring        " << settings_.ring.slots << " slots of " << settings_.ring.slot_seconds << " s in "
      << settings_.topics.partitions << " partitions; drains: " << count(metric::kDrains, {"first"}) << " first, "
      << count(metric::kDrains, {"second"}) << " second, " << count(metric::kDrains, {"lap"})
      << " a lap later; everything merged\n";
  out << "user batches    " << count(metric::kBatches) << " with " << count(metric::kBatchPlays) << " plays\n";
  const FilterStoreStats stats = process_->stores().admin->stats();
  const uint64_t merged = std::max<uint64_t>(1, count(metric::kMergedPlays));
  out << "filters         " << filters << ", " << filter_bytes << " bytes"
      << (scanned.ok() ? "" : " (" + scanned.to_string() + ")") << "\n";
  out << "filter store    " << stats.bytes_written << " bytes written in " << stats.updates
      << " updates: " << static_cast<double>(stats.bytes_written) / static_cast<double>(merged) << " bytes a play\n";
  return out.str();
}

}  // namespace bloomring
