#include "pipeline/canary/canary.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "pipeline/canary/canary_metrics.h"

namespace bloomring {

namespace {
constexpr int64_t kNsPerMs = 1'000'000;
// Questions come as often as the play is old: every 10 ms at first, which is the error of the measurement, and every
// two seconds after half a minute.
constexpr int64_t kAskShare = 16;

int64_t pause_ns(int64_t age_ns) { return std::max(Canary::kTickMs * kNsPerMs, age_ns / kAskShare); }
}  // namespace

struct Canary::Delivery {
  std::mutex mutex;
  std::optional<Status> outcome;  // Nothing while the brokers have not answered.

  void set(const Status& status) {
    const std::lock_guard lock(mutex);
    outcome = status;
  }
  std::optional<Status> get() {
    const std::lock_guard lock(mutex);
    return outcome;
  }
};

std::vector<std::string> canary_users(const CanaryConfig& config) {
  std::map<PartitionId, std::string> found;
  for (const PartitionId partition : config.partitions) found[partition];
  size_t missing = found.size();
  for (uint64_t number = 0; missing > 0; ++number) {
    std::string user = std::string(kCanaryPrefix) + config.name + "-" + std::to_string(number);
    const UserKey key(config.scene, user);
    const auto wanted = found.find(partition_of(shard_of(key.bytes()), config.partition_count));
    if (wanted == found.end() || !wanted->second.empty()) continue;
    wanted->second = std::move(user);
    --missing;
  }
  std::vector<std::string> users;
  for (const PartitionId partition : config.partitions) users.push_back(found[partition]);
  return users;
}

Canary::Canary(CanaryConfig config, CanaryPath& path, const Clock& clock, Metrics& metrics)
    : config_(std::move(config)),
      users_(canary_users(config_)),
      path_(path),
      clock_(clock),
      seconds_(metrics.histogram(metric::kCanarySeconds)),
      seen_(metrics.counter(metric::kCanaryPlays, {"seen"})),
      unseen_(metrics.counter(metric::kCanaryPlays, {"unseen"})),
      unwritten_(metrics.counter(metric::kCanaryPlays, {"unwritten"})),
      due_ns_(clock.steady_ns()) {
  BLOOMRING_CHECK(!users_.empty(), "a canary watches a partition");
}

void Canary::step() {
  const int64_t now_ns = clock_.steady_ns();
  if (under_way_) {
    follow(*under_way_, now_ns);
  } else if (now_ns >= due_ns_) {
    send(now_ns);
  }
}

void Canary::send(int64_t now_ns) {
  due_ns_ = now_ns + config_.interval_ms * kNsPerMs;
  const int64_t time_ms = clock_.now_ms();
  const uint64_t number = plays_++;
  const size_t turn = number % users_.size();
  // The number parts two plays of one millisecond, as a clock that is set back makes them.
  const std::string item = std::string(kCanaryPrefix) + std::to_string(time_ms) + "-" + std::to_string(number);
  auto delivery = std::make_shared<Delivery>();
  under_way_ = std::make_unique<UnderWay>(UnderWay{turn, item, now_ns, now_ns, delivery});
  path_.play(users_[turn], item, time_ms, [delivery](const Status& status) { delivery->set(status); });
}

void Canary::follow(UnderWay& play, int64_t now_ns) {
  const std::optional<Status> outcome = play.delivery->get();
  if (outcome && !outcome->ok()) return lose(play, unwritten_, outcome->message());
  const bool over = now_ns - play.sent_ns >= config_.timeout_ms * kNsPerMs;
  if (!outcome) {
    if (over) lose(play, unwritten_, "the brokers have not acknowledged it");
    return;
  }
  if (over) return lose(play, unseen_, play.last_answer);
  if (now_ns < play.ask_at_ns) return;
  const Result<bool> seen = path_.is_recent(users_[play.turn], play.item);
  const int64_t age_ns = clock_.steady_ns() - play.sent_ns;
  if (seen.ok() && *seen) {
    seconds_.observe(static_cast<double>(age_ns) / 1e9);
    return end(seen_);
  }
  play.last_answer = seen.ok() ? "the query service answers that it is unseen" : seen.status().message();
  play.ask_at_ns = play.sent_ns + age_ns + pause_ns(age_ns);
}

void Canary::end(Counter& result) {
  result.add();
  under_way_.reset();
}

void Canary::lose(const UnderWay& play, Counter& result, const std::string& why) {
  log_warning("canary: a play was not seen in time",
              {{"partition", config_.partitions[play.turn].value},
               {"seconds", (clock_.steady_ns() - play.sent_ns) / 1'000'000'000},
               {"reason", why}});
  end(result);
}

}  // namespace bloomring
