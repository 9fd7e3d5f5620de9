#include "pipeline/kafka/consumer/group_consumer.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "base/log.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer/committer.h"
#include "pipeline/kafka/consumer/consumer_errors.h"
#include "pipeline/kafka/consumer/partition_lookup.h"
#include "pipeline/kafka/consumer/partition_source.h"
#include "pipeline/kafka/consumer/position_recovery.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

// How long a revoked member waits for the result of its last commit. The group waits with it.
constexpr int kLastCommitTimeoutMs = 3000;
// How long brokers may deny knowing a partition that the group has assigned, or hide it; and how long a listener may
// refuse a partition.
constexpr int64_t kRefusedPatienceNs = 30'000'000'000;
constexpr int64_t kHandOutIntervalNs = 1'000'000'000;
constexpr int64_t kWarnIntervalNs = 30'000'000'000;  // Between warnings about missing answers.
// How long `leave` waits for each of: partitions revoked, leave request sent.
constexpr int64_t kLeaveTimeoutNs = 10'000'000'000;

std::vector<TopicPartition> to_partitions(const rd_kafka_topic_partition_list_t& list) {
  std::vector<TopicPartition> partitions;
  for (const auto& element : std::span(list.elems, static_cast<size_t>(list.cnt))) {
    partitions.push_back({element.topic, PartitionId(element.partition)});
  }
  return partitions;
}

}  // namespace

class GroupConsumer::Core {
 public:
  Core(const ClientSettings& settings, GroupListener& listener, const Clock& clock)
      : settings_(settings), listener_(listener), clock_(clock) {}
  ~Core() { close(); }

  Status open(const std::vector<std::string>& topics);
  Status poll(int timeout_ms);
  void abandon();
  void close();
  void leave();
  GroupStats stats() const;

 private:
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* list, void* core);
  Result<size_t> count_partitions(const std::vector<std::string>& topics);
  Status subscribe(const std::vector<std::string>& topics);
  void on_assigned(const rd_kafka_topic_partition_list_t& list);
  // Takes the partitions back from the listener: revoked, lost or closed.
  void take_back(bool lost);
  // Hands out the partitions in pending_, except those without facts from the brokers.
  void assign_pending();
  // For a refusal by the brokers. A partition that the group has assigned exists, but brokers that have just come back
  // may not know it for a while.
  void put_off(const TopicPartition& at, const Status& why);
  bool refused_for_long(const TopicPartition& at);
  void hand_out(const TopicPartition& at, const PartitionFacts& facts);
  // For a refusal by the listener: after kRetry the partition is pending again.
  void refuse(const TopicPartition& at, Status why);
  void fail(Status failure);
  bool member() const;

  const ClientSettings settings_;
  GroupListener& listener_;
  const Clock& clock_;
  SourceHost host_;
  ClientHandle client_;
  std::optional<PositionRecovery> recovery_;  // Of the partitions handed out.
  CommitCounts commit_counts_;
  std::optional<Committer> committer_;
  std::vector<TopicPartition> pending_;      // In the group's assignment, not yet handed out.
  std::vector<TopicPartition> assigned_;     // Handed out.
  Status failure_;                           // Of a callback; the next poll returns it.
  std::map<TopicPartition, int64_t> refused_since_ns_;  // Since when each is refused.
  int64_t hand_out_at_ns_ = 0;
  int64_t warn_at_ns_ = 0;
  bool abandoned_ = false;
  std::atomic<int64_t> assigned_count_{0};
  std::atomic<int64_t> rebalances_{0};
  std::atomic<bool> has_place_{false};
};

Status GroupConsumer::Core::open(const std::vector<std::string>& topics) {
  if (settings_.group.empty()) return invalid("a group consumer needs a group");
  BLOOMRING_TRY_ASSIGN(const size_t partitions_max, count_partitions(topics));
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, consumer_conf(settings_, partitions_max));
  rd_kafka_conf_set_opaque(conf.get(), this);
  rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
  BLOOMRING_TRY_ASSIGN(client_, make_client(std::move(conf), RD_KAFKA_CONSUMER));
  rd_kafka_poll_set_consumer(client_.get());
  committer_.emplace(client_.get(), clock_, settings_.commit_interval_ms, commit_counts_);
  host_.client = client_.get();
  recovery_.emplace(client_.get(), settings_.bootstrap);
  host_.commits = &committer_->board();
  return subscribe(topics);
}

// The queue bound of a partition is fixed when a client is made, so another client first asks for the number.
Result<size_t> GroupConsumer::Core::count_partitions(const std::vector<std::string>& topics) {
  BLOOMRING_TRY_ASSIGN(const auto admin, Admin::create(settings_));
  BLOOMRING_TRY_ASSIGN(const auto descriptions, admin->describe(topics, kLookupTimeoutMs));
  size_t partitions = 0;
  for (const auto& topic : descriptions) {
    if (!topic.exists) return invalid("topic " + topic.name + " does not exist, or may not be read");
    partitions += static_cast<size_t>(topic.partitions);
  }
  return partitions;
}

Status GroupConsumer::Core::subscribe(const std::vector<std::string>& topics) {
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const auto& topic : topics) rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(client_.get(), list.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return invalid(std::string("cannot subscribe: ") + rd_kafka_err2str(error));
}

Status GroupConsumer::Core::poll(int timeout_ms) {
  BLOOMRING_CHECK(client_, "poll after close");
  if (!pending_.empty()) assign_pending();
  committer_->serve();
  const MessageHandle message(rd_kafka_consumer_poll(client_.get(), timeout_ms));
  committer_->serve();
  if (Status ended = fatal_error(client_.get()); !ended.ok()) {
    take_back(/*lost=*/true);
    return ended;
  }
  if (message) BLOOMRING_TRY(on_consumer_message(*message, InGroup::kYes));
  if (Status placed = recovery_->serve(clock_.steady_ns()); !placed.ok()) fail(std::move(placed));
  return std::exchange(failure_, Status());
}

void GroupConsumer::Core::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error,
                                       rd_kafka_topic_partition_list_t* list, void* core) {
  auto& self = *static_cast<Core*>(core);
  if (error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) return self.on_assigned(*list);
  if (error != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
    log_error("kafka: a rebalance failed", {{"client", rd_kafka_name(client)},
                                            {"group", self.settings_.group},
                                            {"code", rd_kafka_err2name(error)},
                                            {"reason", rd_kafka_err2str(error)}});
  }
  self.take_back(self.abandoned_ || rd_kafka_assignment_lost(client) != 0);
}

void GroupConsumer::Core::on_assigned(const rd_kafka_topic_partition_list_t& list) {
  ++rebalances_;
  has_place_ = true;
  pending_ = to_partitions(list);
  log_info("kafka: partitions assigned", {{"group", settings_.group}, {"partitions", pending_.size()}});
  for (const TopicPartition& at : pending_) {
    log_debug("kafka: assigned",
              {{"group", settings_.group}, {"topic", at.topic}, {"partition", at.partition.value}});
  }
  if (pending_.empty()) rd_kafka_assign(client_.get(), &list);
  assign_pending();
}

void GroupConsumer::Core::assign_pending() {
  if (pending_.empty() || clock_.steady_ns() < hand_out_at_ns_) return;
  const auto facts = query_facts(client_.get(), settings_.bootstrap, pending_, Ask::kLogAndCommits, kLookupTimeoutMs);
  const auto partitions = std::exchange(pending_, {});
  const size_t assigned_before = assigned_.size();
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (facts[i].ok()) {
      hand_out(partitions[i], *facts[i]);
    } else {
      put_off(partitions[i], facts[i].status());
    }
  }
  if (!pending_.empty() && clock_.steady_ns() >= warn_at_ns_) warn_at_ns_ = clock_.steady_ns() + kWarnIntervalNs;
  assigned_count_ = static_cast<int64_t>(assigned_.size());
  if (pending_.empty() && assigned_.size() > assigned_before) listener_.on_handed_out();
  if (assigned_.size() == assigned_before && (assigned_before > 0 || !pending_.empty())) return;
  if (Status assigned = recovery_->assign(clock_.steady_ns()); !assigned.ok()) fail(std::move(assigned));
}

void GroupConsumer::Core::put_off(const TopicPartition& at, const Status& why) {
  const int64_t now_ns = clock_.steady_ns();
  hand_out_at_ns_ = now_ns + kHandOutIntervalNs;
  pending_.push_back(at);
  if (now_ns >= warn_at_ns_) {
    log_warning("kafka: waits to begin with a partition", {{"group", settings_.group},
                                                           {"topic", at.topic},
                                                           {"partition", at.partition.value},
                                                           {"code", code_name(why.code())},
                                                           {"reason", why.message()}});
  }
  if (why.code() != Code::kInvalid) {
    refused_since_ns_.erase(at);
  } else if (refused_for_long(at)) {
    fail(Status(why).with_context("group " + settings_.group + " waits to begin with " + to_string(at)));
  }
}

bool GroupConsumer::Core::refused_for_long(const TopicPartition& at) {
  const int64_t now_ns = clock_.steady_ns();
  return now_ns - refused_since_ns_.try_emplace(at, now_ns).first->second >= kRefusedPatienceNs;
}

void GroupConsumer::Core::hand_out(const TopicPartition& at, const PartitionFacts& facts) {
  auto position = std::make_shared<Position>(at);
  auto start = listener_.on_assign(at, facts, std::make_unique<PartitionSource>(host_, position, facts.log_end));
  if (!start.ok()) return refuse(at, std::move(start).status().with_context("cannot start " + to_string(at)));
  refused_since_ns_.erase(at);
  recovery_->add(std::move(position), *start);
  assigned_.push_back(at);
}

void GroupConsumer::Core::refuse(const TopicPartition& at, Status why) {
  if (why.code() == Code::kRetry) {
    hand_out_at_ns_ = clock_.steady_ns() + kHandOutIntervalNs;
    pending_.push_back(at);
    if (refused_for_long(at)) why = fatal(why.message());
  }
  fail(std::move(why));
}

// First the owner stops, then its last commits go out, then the group learns of it.
void GroupConsumer::Core::take_back(bool lost) {
  log_info(lost ? "kafka: partitions lost" : "kafka: partitions given back",
           {{"group", settings_.group}, {"partitions", assigned_.size()}});
  pending_.clear();
  refused_since_ns_.clear();
  hand_out_at_ns_ = 0;
  warn_at_ns_ = 0;
  if (!assigned_.empty()) listener_.on_revoke(assigned_, lost);
  BLOOMRING_CHECK(host_.live_sources == 0, "on_revoke returned while a source is still there");
  if (!lost) committer_->flush(kLastCommitTimeoutMs);
  committer_->reset();
  assigned_.clear();
  assigned_count_ = 0;
  has_place_ = false;
  recovery_->clear();
}

// Logs kRetry, and the next poll tries again; this poll returns any other failure.
void GroupConsumer::Core::fail(Status failure) {
  log_warning("kafka: " + failure.message(), {{"group", settings_.group}, {"code", code_name(failure.code())}});
  if (failure.code() == Code::kRetry && !pending_.empty()) return;
  if (failure_.ok()) failure_ = std::move(failure);
}

void GroupConsumer::Core::abandon() {
  abandoned_ = true;
  close();
}

void GroupConsumer::Core::close() {
  if (!client_) return;
  rd_kafka_consumer_close(client_.get());
  if (!assigned_.empty()) take_back(/*lost=*/true);  // A client after a fatal error revokes nothing.
  committer_.reset();
  recovery_.reset();
  client_.reset();
}

// A member with an instance id sends no leave request when it closes, but does when it unsubscribes. The member id
// is given up as the request goes out.
void GroupConsumer::Core::leave() {
  if (!client_) return;
  rd_kafka_unsubscribe(client_.get());
  const int64_t until_ns = clock_.steady_ns() + kLeaveTimeoutNs;
  while ((!assigned_.empty() || member()) && clock_.steady_ns() < until_ns && fatal_error(client_.get()).ok()) {
    const MessageHandle ignored(rd_kafka_consumer_poll(client_.get(), 10));
  }
  close();
}

bool GroupConsumer::Core::member() const {
  char* id = rd_kafka_memberid(client_.get());
  const bool is = id != nullptr && id[0] != '\0';
  rd_kafka_mem_free(client_.get(), id);
  return is;
}

GroupStats GroupConsumer::Core::stats() const {
  return {.assigned = assigned_count_,
          .has_place = has_place_,
          .rebalances = rebalances_,
          .commits = commit_counts_.succeeded,
          .commit_failures = commit_counts_.failed};
}

Result<std::unique_ptr<GroupConsumer>> GroupConsumer::create(const ClientSettings& settings,
                                                             std::vector<std::string> topics, GroupListener& listener,
                                                             const Clock& clock) {
  auto core = std::make_unique<Core>(settings, listener, clock);
  BLOOMRING_TRY(core->open(topics));
  return std::unique_ptr<GroupConsumer>(new GroupConsumer(std::move(core)));
}

GroupConsumer::GroupConsumer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
GroupConsumer::~GroupConsumer() = default;
Status GroupConsumer::poll(int timeout_ms) { return core_->poll(timeout_ms); }
void GroupConsumer::abandon() { core_->abandon(); }
void GroupConsumer::close() { core_->close(); }
void GroupConsumer::leave() { core_->leave(); }
GroupStats GroupConsumer::stats() const { return core_->stats(); }

}  // namespace bloomring::kafka
