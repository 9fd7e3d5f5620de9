#include "pipeline/kafka/consumer/assigned_consumer.h"

#include <set>
#include <utility>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer/consumer_errors.h"
#include "pipeline/kafka/consumer/partition_lookup.h"
#include "pipeline/kafka/consumer/partition_source.h"
#include "pipeline/kafka/consumer/position_recovery.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {

namespace {
constexpr int64_t kAskMuteIntervalNs = 3'000'000'000;

// All facts, or the first failure.
Result<std::vector<PartitionFacts>> all_of(std::vector<Result<PartitionFacts>> found,
                                           std::span<const TopicPartition> partitions) {
  std::vector<PartitionFacts> all;
  for (auto& facts : found) {
    if (!facts.ok()) return std::move(facts).status().with_context(to_string(partitions[all.size()]));
    all.push_back(*facts);
  }
  return all;
}

}  // namespace

class AssignedConsumer::Core {
 public:
  explicit Core(const Clock& clock) : clock_(clock) {}
  ~Core() { BLOOMRING_CHECK(host_.live_sources == 0, "the consumer is destroyed while a source is still there"); }

  Status open(ClientSettings settings, size_t partitions_max);
  std::vector<Result<PartitionFacts>> facts(std::span<const TopicPartition> partitions, int timeout_ms) {
    return query_facts(client_.get(), bootstrap_, partitions, Ask::kLog, timeout_ms);
  }
  std::vector<Result<PartitionFacts>> group_facts(std::span<const TopicPartition> partitions, int timeout_ms) {
    return query_facts(client_.get(), bootstrap_, partitions, Ask::kLogAndCommits, timeout_ms);
  }
  std::vector<Result<std::optional<Offset>>> offsets_at(std::span<const TopicPartition> partitions,
                                                        std::span<const int64_t> times_ms, int timeout_ms) {
    return query_offsets_at(client_.get(), bootstrap_, partitions, times_ms, timeout_ms);
  }
  std::vector<Result<Offset>> log_ends(std::span<const TopicPartition> partitions, int timeout_ms, LogEnd end);
  bool answers(int timeout_ms);
  Result<std::vector<std::unique_ptr<Source>>> assign(std::span<const Start> starts);
  void release(const TopicPartition& partition);
  Status poll(int timeout_ms);

 private:
  Status open_writers_view();

  const Clock& clock_;
  ClientSettings settings_;
  std::string bootstrap_;
  SourceHost host_;
  ClientHandle client_;
  ClientHandle writers_view_;  // Reads nothing; asks for LogEnd::kForWriters. None before the first question.
  std::optional<PositionRecovery> recovery_;
  size_t partitions_max_ = 0;
  size_t partitions_ = 0;  // That are read.
  std::set<TopicPartition> mute_;  // Those without an answer when last asked for their ends...
  int64_t ask_mute_at_ns_ = 0;     // ...and when to ask again.
};

// librdkafka's assign needs the name of a group, which is never joined.
Status AssignedConsumer::Core::open(ClientSettings settings, size_t partitions_max) {
  if (settings.group.empty()) settings.group = settings.client_id + "-reader";
  settings.instance_id.clear();
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, consumer_conf(settings, partitions_max));
  BLOOMRING_TRY_ASSIGN(client_, make_client(std::move(conf), RD_KAFKA_CONSUMER));
  rd_kafka_poll_set_consumer(client_.get());
  host_.client = client_.get();
  bootstrap_ = settings.bootstrap;
  recovery_.emplace(client_.get(), bootstrap_);
  partitions_max_ = partitions_max;
  settings_ = std::move(settings);
  return {};
}

// librdkafka asks for the end that the client's own isolation level makes.
Status AssignedConsumer::Core::open_writers_view() {
  if (writers_view_) return {};
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, consumer_conf(settings_, partitions_max_));
  const auto set = [&](const char* name, const char* value) {
    const bool known = rd_kafka_conf_set(conf.get(), name, value, nullptr, 0) == RD_KAFKA_CONF_OK;
    BLOOMRING_CHECK(known, "librdkafka knows its properties");
  };
  set("isolation.level", "read_uncommitted");
  set("statistics.interval.ms", "0");
  BLOOMRING_TRY_ASSIGN(writers_view_, make_client(std::move(conf), RD_KAFKA_CONSUMER));
  return {};
}

std::vector<Result<Offset>> AssignedConsumer::Core::log_ends(std::span<const TopicPartition> partitions,
                                                             int timeout_ms, LogEnd end) {
  if (end == LogEnd::kForWriters) {
    const Status opened = open_writers_view();
    if (!opened.ok()) return std::vector<Result<Offset>>(partitions.size(), opened);
    rd_kafka_poll(writers_view_.get(), 0);  // Its errors, which go to the log.
  }
  rd_kafka_t* const client = end == LogEnd::kForWriters ? writers_view_.get() : client_.get();
  const bool ask_mute = clock_.steady_ns() >= ask_mute_at_ns_;
  if (ask_mute) ask_mute_at_ns_ = clock_.steady_ns() + kAskMuteIntervalNs;
  std::vector<Result<Offset>> ends(partitions.size(), retry("no broker has reported its end lately"));
  const auto ask = [&](bool mute) {
    std::vector<TopicPartition> some;
    std::vector<size_t> places;
    for (size_t i = 0; i < partitions.size(); ++i) {
      if (mute_.contains(partitions[i]) != mute) continue;
      some.push_back(partitions[i]);
      places.push_back(i);
    }
    if (some.empty()) return;
    const auto told = query_log_ends(client, bootstrap_, some, timeout_ms);
    for (size_t n = 0; n < some.size(); ++n) ends[places[n]] = told[n];
  };
  ask(/*mute=*/false);
  if (ask_mute) ask(/*mute=*/true);
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (ends[i].ok()) {
      mute_.erase(partitions[i]);
    } else {
      mute_.insert(partitions[i]);
    }
  }
  return ends;
}

bool AssignedConsumer::Core::answers(int timeout_ms) {
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client_.get(), /*all_topics=*/0, nullptr, &answer, timeout_ms);
  const MetadataHandle about(answer);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

Result<std::vector<std::unique_ptr<Source>>> AssignedConsumer::Core::assign(std::span<const Start> starts) {
  partitions_ += starts.size();
  BLOOMRING_CHECK(partitions_ <= partitions_max_, "more partitions than were announced");
  std::vector<std::unique_ptr<Source>> sources;
  for (const auto& [at, offset] : starts) {
    const auto position = std::make_shared<Position>(at);
    recovery_->add(position, offset);
    sources.push_back(std::make_unique<PartitionSource>(host_, position, Offset(-1)));
  }
  BLOOMRING_TRY(recovery_->assign(clock_.steady_ns()));
  return sources;
}

void AssignedConsumer::Core::release(const TopicPartition& partition) {
  --partitions_;
  recovery_->remove(partition);
}

Status AssignedConsumer::Core::poll(int timeout_ms) {
  MessageHandle message(rd_kafka_consumer_poll(client_.get(), timeout_ms));
  for (; message; message.reset(rd_kafka_consumer_poll(client_.get(), 0))) {
    BLOOMRING_TRY(on_consumer_message(*message, InGroup::kNo));
  }
  BLOOMRING_TRY(fatal_error(client_.get()));
  return recovery_->serve(clock_.steady_ns());
}

Result<std::unique_ptr<AssignedConsumer>> AssignedConsumer::create(const ClientSettings& settings,
                                                                   size_t partitions_max, const Clock& clock) {
  auto core = std::make_unique<Core>(clock);
  BLOOMRING_TRY(core->open(settings, partitions_max));
  return std::unique_ptr<AssignedConsumer>(new AssignedConsumer(std::move(core)));
}

AssignedConsumer::AssignedConsumer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
AssignedConsumer::~AssignedConsumer() = default;
Result<std::vector<PartitionFacts>> AssignedConsumer::facts(std::span<const TopicPartition> partitions) {
  return all_of(core_->facts(partitions, kLookupTimeoutMs), partitions);
}
std::vector<Result<PartitionFacts>> AssignedConsumer::facts_of_each(std::span<const TopicPartition> partitions,
                                                                    int timeout_ms) {
  return core_->facts(partitions, timeout_ms);
}
std::vector<Result<PartitionFacts>> AssignedConsumer::group_facts(std::span<const TopicPartition> partitions,
                                                                  int timeout_ms) {
  return core_->group_facts(partitions, timeout_ms);
}
std::vector<Result<std::optional<Offset>>> AssignedConsumer::offsets_at(std::span<const TopicPartition> partitions,
                                                                        std::span<const int64_t> times_ms,
                                                                        int timeout_ms) {
  return core_->offsets_at(partitions, times_ms, timeout_ms);
}
std::vector<Result<Offset>> AssignedConsumer::log_ends(std::span<const TopicPartition> partitions, int timeout_ms,
                                                       LogEnd end) {
  return core_->log_ends(partitions, timeout_ms, end);
}
bool AssignedConsumer::answers(int timeout_ms) { return core_->answers(timeout_ms); }
void AssignedConsumer::release(const TopicPartition& partition) { core_->release(partition); }
Result<std::vector<std::unique_ptr<Source>>> AssignedConsumer::assign(std::span<const Start> starts) {
  return core_->assign(starts);
}
Status AssignedConsumer::poll(int timeout_ms) { return core_->poll(timeout_ms); }

}  // namespace bloomring::kafka
