// A way that was rejected (docs/decisions/0065-two-ways-that-were-rejected.md): each process keeps the plays of a user
// in memory, and writes them to the user's filter at most every N minutes, under a lock that expires. A model on
// virtual time shows that it loses plays; the same plays go through the chain of bloomring, which loses none.
#include <functional>
#include <queue>
#include <set>

#include "tests/pipeline/jobs/replay/one_installation.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kThrottleMs = 10 * kMinuteMs;

using Items = std::set<std::string>;

// Runs actions at virtual times, in the order of these times.
class Agenda {
 public:
  void at(int64_t time_ms, std::function<void()> happens) { due_.push({time_ms, next_++, std::move(happens)}); }
  void run() {
    while (!due_.empty()) {
      const std::function<void()> happens = due_.top().happens;
      due_.pop();
      happens();
    }
  }

 private:
  struct Due {
    int64_t time_ms;
    uint64_t order;
    std::function<void()> happens;
    bool operator<(const Due& other) const {
      return std::pair(time_ms, order) > std::pair(other.time_ms, other.order);
    }
  };
  std::priority_queue<Due> due_;
  uint64_t next_ = 0;
};

// The store of filters and of locks, which all processes share.
struct ThrottledStore {
  std::map<std::string, Items> filters;
  std::map<std::string, int64_t> locked_until_ms;
};

class ThrottledProcess {
 public:
  // `write_ms`: from the read of a filter to the end of its write.
  ThrottledProcess(ThrottledStore& store, Agenda& agenda, std::function<int64_t()> write_ms)
      : store_(store), agenda_(agenda), write_ms_(std::move(write_ms)) {}

  void play(const Happening& one, int64_t now_ms) {
    gathered[one.user].insert(one.item);
    int64_t& locked_until_ms = store_.locked_until_ms[one.user];
    if (now_ms < locked_until_ms) return;
    locked_until_ms = now_ms + kThrottleMs;
    Items filter = store_.filters[one.user];
    filter.merge(std::exchange(gathered[one.user], {}));
    agenda_.at(now_ms + write_ms_(), [this, user = one.user, filter] { store_.filters[user] = filter; });
  }

  std::map<std::string, Items> gathered;  // Not written.

 private:
  ThrottledStore& store_;
  Agenda& agenda_;
  const std::function<int64_t()> write_ms_;
};

// Eight hours of a user who plays on two devices, and one who leaves after a while.
std::vector<Happening> evening() {
  std::vector<Happening> all;
  for (int64_t minute = 1; minute < 8 * 60; ++minute) {
    const int64_t now_ms = kStartMs + minute * kMinuteMs;
    all.push_back({now_ms, EventKind::kPlay, "stays", "s" + std::to_string(minute)});
    all.push_back({now_ms + 30'000, EventKind::kPlay, "stays", "t" + std::to_string(minute)});
    if (minute < 25) all.push_back({now_ms + 45'000, EventKind::kPlay, "leaves", "l" + std::to_string(minute)});
  }
  return all;
}

struct Lost {
  std::map<std::string, size_t> overwritten;    // Written once, and gone...
  std::map<std::string, size_t> never_written;  // ...or in the memory of a process at the end.
};

Lost play_throttled(const std::vector<Happening>& all, const std::function<int64_t()>& write_ms) {
  ThrottledStore store;
  Agenda agenda;
  ThrottledProcess one(store, agenda, write_ms), other(store, agenda, write_ms);
  for (size_t i = 0; i < all.size(); ++i) {
    ThrottledProcess& process = i % 2 == 0 ? one : other;
    agenda.at(all[i].time_ms, [&process, &happening = all[i]] { process.play(happening, happening.time_ms); });
  }
  agenda.run();
  Lost lost;
  for (const Happening& happening : all) {
    if (store.filters[happening.user].contains(happening.item)) continue;
    const bool gathered = one.gathered[happening.user].contains(happening.item) ||
                          other.gathered[happening.user].contains(happening.item);
    ++(gathered ? lost.never_written : lost.overwritten)[happening.user];
  }
  return lost;
}

}  // namespace

TEST_CASE("rejected: writing at most every N minutes under a lock loses plays, also where no write is slow") {
  const Lost lost = play_throttled(evening(), [] { return int64_t{20}; });
  CHECK(lost.overwritten.empty());
  // The last minutes of a user who leaves stay in the memory of processes that nobody asks again.
  CHECK(lost.never_written.at("leaves") >= 4);
  CHECK(lost.never_written.at("stays") >= 1);
}

TEST_CASE("rejected: where a write outlasts its lock, what another process has written meanwhile is lost") {
  int writes = 0;
  // Every fifth write stands still for a quarter of an hour, as a process that is swapped out does.
  const Lost lost = play_throttled(evening(), [&writes] { return ++writes % 5 == 0 ? 15 * kMinuteMs : 20; });
  CHECK(lost.overwritten.at("stays") > 50);
}

TEST_CASE("rejected: the same plays go through the ring without a loss, of the user who leaves, too") {
  const std::vector<Happening> all = evening();
  Installation installation(kStartMs);
  for (const Happening& one : all) {
    installation.happen(one);
    installation.step();
  }
  size_t lost = 0;
  const auto count_lost = [&] {
    for (const Happening& one : all) lost += installation.says_seen(one.user, one.item) ? 0 : 1;
  };
  installation.advance_to(installation.clock.now_ms() + 60'000);
  count_lost();  // At once...
  installation.advance_to(installation.clock.now_ms() + 9 * kHourMs);
  count_lost();  // ...and when all is merged, which no user needs to come back for.
  CHECK(lost == 0);
  size_t users_with_filters = 0;
  for (const auto& [of, bytes] : installation.rows()) users_with_filters += bytes.empty() ? 0 : 1;
  CHECK(users_with_filters == 2);
}

}  // namespace bloomring::simulation
