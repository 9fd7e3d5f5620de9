// Compares the filter store on a redis-server with the embedded one, in one run: under the load of the merge stage, and
// under the reads of queries. The benchmark starts the redis-server.
//
//   redis_store_bench       (redis-server in the PATH; TMPDIR says on which disk)
//
// Merge: kHours hours, in each of which every user plays kPlaysPerHour times and is merged once. Figures for a user and
// hour: CPU of this process, requests to the server, bytes on the wire. Reads: users of kPeriods months with
// kMonthPlays plays each, kCandidates candidates; one at a time. "MGET" is the same keys asked for without bloomring.
// Filter: the same through the query core (serving/query/candidate_filter.h), with a cache that is off (cold: every
// question reads the store) and one that has every user (warm), without gRPC. The last lines compare them with the
// budgets: cold within kColdBudgetUs of the p50 of one MGET, warm as over the embedded store.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/replica_partition.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "state/store/redis/redis_filter_store.h"
#include "tests/support/blocking_filter_store.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1795000000000;
constexpr int32_t kNow = 682;
constexpr size_t kUsers = 5000, kReaders = 1000, kHours = 20, kPlaysPerHour = 4, kUpdatesPerApply = 256;
constexpr double kColdBudgetUs = 3'000;
constexpr size_t kPeriods = 4, kMonthPlays = 700, kCandidates = 10'000, kReads = 3000;

void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

double cpu_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

std::string user_key(size_t u) { return std::string(UserKey("", "user-" + std::to_string(u)).bytes()); }

void apply_all(LocalFilterStore& store, size_t users, int32_t period, uint64_t first_play, size_t plays) {
  std::vector<std::string> keys;
  std::vector<std::vector<ItemHash>> items;
  std::vector<FilterUpdate> updates;
  for (size_t from = 0; from < users; from += kUpdatesPerApply) {
    const size_t to = std::min(users, from + kUpdatesPerApply);
    keys.clear(), items.clear(), updates.clear();
    keys.reserve(kUpdatesPerApply), items.reserve(kUpdatesPerApply);
    for (size_t u = from; u < to; ++u) {
      keys.push_back(user_key(u));
      items.emplace_back();
      for (size_t i = 0; i < plays; ++i) items.back().push_back(item_hash(std::to_string((first_play + i) * 7919 + u)));
      updates.push_back({keys.back(), PeriodIndex(period), items.back()});
    }
    must(store.apply(updates));
  }
}

struct Times {
  double p50_us, p99_us;
};

Times show_times(const char* name, std::vector<int64_t>& ns) {
  std::ranges::sort(ns);
  const auto us = [&](double part) {
    return static_cast<double>(ns[static_cast<size_t>(part * static_cast<double>(ns.size() - 1))]) / 1e3;
  };
  const Times times{us(0.5), us(0.99)};
  std::printf("%-34s p50 %7.0f us   p99 %7.0f us\n", name, times.p50_us, times.p99_us);
  return times;
}

std::vector<int64_t> timed(size_t times, const std::function<void(size_t)>& body) {
  const SystemClock clock;
  std::vector<int64_t> ns;
  for (size_t i = 0; i < times; ++i) {
    const int64_t begun = clock.steady_ns();
    body(i);
    ns.push_back(clock.steady_ns() - begun);
  }
  return ns;
}

double merge(const char* name, LocalFilterStore& store) {
  const double before = cpu_us();
  for (size_t hour = 0; hour < kHours; ++hour) apply_all(store, kUsers, kNow, hour * kPlaysPerHour, kPlaysPerHour);
  const double each = (cpu_us() - before) / (kHours * kUsers);
  std::printf("%-34s %.1f us of CPU for a user and hour\n", name, each);
  return each;
}

const std::vector<PeriodIndex>& months() {
  static const std::vector<PeriodIndex> all{PeriodIndex(kNow - 3), PeriodIndex(kNow - 2), PeriodIndex(kNow - 1),
                                            PeriodIndex(kNow)};
  return all;
}

void read(const std::string& name, LocalFilterStore& store) {
  for (size_t p = 0; p < kPeriods; ++p)
    apply_all(store, kReaders, kNow - static_cast<int32_t>(p), 1000, kMonthPlays);
  std::vector<ItemHash> candidates;
  for (size_t i = 0; i < kCandidates; ++i) candidates.push_back(item_hash("c" + std::to_string(i)));
  std::vector<uint8_t> answers(kCandidates);
  auto filters = timed(kReads, [&](size_t i) {
    std::vector<StoredFilter> found;
    must(store.read(user_key(i % kReaders), months(), found));
  });
  show_times((name + ": 4 filters").c_str(), filters);
  auto queries = timed(kReads, [&](size_t i) {
    const std::string key = user_key(i % kReaders);
    std::vector<StoredFilter> found;
    must(store.read(key, months(), found));
    filter::Query query;
    for (const StoredFilter& one : found) must(query.add(one.value, one.store_key));
    query.run(candidates, key, answers);
  });
  show_times((name + ": and 10,000 candidates").c_str(), queries);
}

struct FilterTimes {
  Times cold, warm;
};

FilterTimes ask_filters(const std::string& name, FilterReader& store, const Calendar& calendar, const Clock& clock) {
  must(store.refresh());
  ReplicaPartition partition(PartitionId(0), {}, calendar, Offset(0));
  partition.set_fresh_at_ns(clock.steady_ns());
  partition.set_ready();
  std::vector<ItemHash> candidates;
  for (size_t i = 0; i < kCandidates; ++i) candidates.push_back(item_hash("c" + std::to_string(i)));
  FilterTimes times{};
  for (const bool warm : {false, true}) {
    CandidateFilterConfig config;
    if (!warm) config.cache_bytes_max = 0;
    CandidateFilter core(store, calendar, clock, config);
    const auto ask = [&](size_t i) {
      const std::string key = user_key(i % kReaders);
      FilterQuestion question;
      question.user = UserRef(key);
      question.ids = candidates;
      BLOOMRING_CHECK(core.answer(partition, question).gaps.empty(), "a complete answer");
    };
    if (warm) static_cast<void>(timed(kReaders, ask));
    auto asked = timed(kReads, ask);
    const FilterCacheStats cache = core.cache_stats();
    BLOOMRING_CHECK(cache.hits == (warm ? kReads : 0), std::to_string(cache.hits) + " answers from the cache");
    (warm ? times.warm : times.cold) = show_times((name + ": Filter, " + (warm ? "warm" : "cold")).c_str(), asked);
  }
  return times;
}

Times read_plainly(const testing::RedisServer& server) {
  RedisClientConfig config;
  config.addresses = {server.address()};
  RedisCounters counters;
  RedisClient client("bench", config, counters);
  const RedisKeys keys("bloomring:");
  auto asked = timed(kReads, [&](size_t i) {
    const std::string key = user_key(i % kReaders);
    RedisCommand command(1 + kPeriods);
    command.add("MGET");
    for (const PeriodIndex month : months()) command.add(keys.filter(UserRef(key), PeriodUnit::kMonth, month));
    must(client.call(request_at(keys.forgotten(UserRef(key)), std::move(command).take())).status());
  });
  return show_times("redis: one MGET of 4 filters", asked);
}

void show_load() {
  double load = 0;
  static_cast<void>(::getloadavg(&load, 1));
  std::printf("load %.1f\n", load);
}

}  // namespace

int main() {
  show_load();
  ManualClock clock{kNowMs};
  const Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  const StateMemory memory{StateMemoryConfig{}};
  const testing::Folder folder;
  EmbeddedFilterStoreConfig embedded_config;
  embedded_config.path = folder / "store";
  embedded_config.partition_count = 1;
  const auto embedded = std::move(EmbeddedFilterStore::open(embedded_config, calendar, clock, memory)).value();
  testing::RedisServer server;
  RedisStoreConfig config;
  config.addresses = {server.address()};
  config.timeout_ms = 10'000;
  RedisFilterStore redis(config, calendar, clock, true);
  must(redis.refresh());
  testing::BlockingFilterStore<RedisFilterStore> blocking(redis, 1);
  must(blocking.writer_of(PartitionId(0)).status());
  const RedisCounters& traffic = redis.parts().traffic;
  const double requests = static_cast<double>(traffic.requests.load());
  const double bytes = static_cast<double>(traffic.bytes_sent.load() + traffic.bytes_received.load());
  merge("redis: merge", blocking);
  constexpr double kUserHours = kHours * kUsers;
  std::printf("%-34s %.3f requests for a user and hour, %.0f bytes on the wire for a play\n", "",
              (static_cast<double>(traffic.requests.load()) - requests) / kUserHours,
              (static_cast<double>(traffic.bytes_sent.load() + traffic.bytes_received.load()) - bytes) /
                  (kUserHours * kPlaysPerHour));
  merge("embedded: merge", *embedded);
  read("redis", blocking);
  read("embedded", *embedded);
  const Times mget = read_plainly(server);
  const FilterTimes over_redis = ask_filters("redis", redis, calendar, clock);
  const FilterTimes over_embedded = ask_filters("embedded", *embedded, calendar, clock);
  const double beyond_us = over_redis.cold.p99_us - mget.p50_us;
  std::printf("cold: p99 %.0f us beyond the p50 of one MGET, budget %.0f: %s\n", beyond_us, kColdBudgetUs,
              beyond_us <= kColdBudgetUs ? "kept" : "missed");
  std::printf("warm: %.2f of the p50 and %.2f of the p99 over the embedded store\n",
              over_redis.warm.p50_us / over_embedded.warm.p50_us, over_redis.warm.p99_us / over_embedded.warm.p99_us);
  show_load();
  return 0;
}
