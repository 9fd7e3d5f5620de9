// The embedded filter store under the merge stage's load, and read by queries.
//
//   filter_store_bench [--benchmark_filter=...]       (TMPDIR says on which disk)
//
// Hours: each iteration is one hour, in which every user plays kPlaysPerHour times and is merged once, in random order.
// The argument is the write buffer in KiB. Its ratio to the operands counts of one hour (here 1.6 MB, for 50
// million users 2 GB): 64 KiB here is about 80 MiB there. Counters are over the whole run, compactions included: bytes
// handed to the store and bytes it wrote to the disk per play, CPU of all threads per play.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1795000000000;
constexpr int32_t kNow = 682;
constexpr size_t kUsers = 40000;
constexpr size_t kReaders = 10000;
constexpr size_t kPlaysPerHour = 4;
constexpr size_t kUpdatesPerApply = 256;
constexpr int kHours = 180;  // 720 plays of each user.
constexpr int kMonthPlays = 700;

double cpu_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

struct Bench {
  explicit Bench(uint64_t write_buffer_bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "bloomring-bench-XXXXXX").string();
    BLOOMRING_CHECK(::mkdtemp(name.data()) != nullptr, name);
    config.path = name;
    config.write_buffer_bytes = write_buffer_bytes;
    auto opened = EmbeddedFilterStore::open(config, calendar, clock, memory);
    must(opened.status());
    store = std::move(opened).value();
    for (size_t u = 0; u < kUsers; ++u) users.emplace_back(UserKey("", "user-" + std::to_string(u)).bytes());
  }
  ~Bench() {
    store.reset();
    std::filesystem::remove_all(config.path);
  }

  void play_hour() {
    std::vector<uint32_t> order(kUsers);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    std::vector<ItemHash> items(kUpdatesPerApply * kPlaysPerHour);
    std::vector<FilterUpdate> updates;
    for (size_t i = 0; i < kUsers; ++i) {
      ItemHash* first = &items[updates.size() * kPlaysPerHour];
      for (size_t n = 0; n < kPlaysPerHour; ++n) first[n] = ItemHash(rng());
      updates.push_back({users[order[i]], PeriodIndex(kNow), {first, kPlaysPerHour}});
      if (updates.size() < kUpdatesPerApply && i + 1 < kUsers) continue;
      must(store->apply(updates));
      updates.clear();
    }
    must(store->advance(PartitionId(0), {}));
  }

  void play_months() {
    std::vector<ItemHash> items(kMonthPlays);
    for (size_t u = 0; u < kReaders; ++u) {
      for (int32_t back = 0; back < 4; ++back) {
        for (ItemHash& item : items) item = ItemHash(rng());
        const FilterUpdate update{users[u], PeriodIndex(kNow - back), items};
        must(store->apply({&update, 1}));
      }
    }
    must(store->compact());
  }

  std::mt19937_64 rng{1};
  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  StateMemory memory{StateMemoryConfig()};
  EmbeddedFilterStoreConfig config;
  std::unique_ptr<EmbeddedFilterStore> store;
  std::vector<std::string> users;
};

void hours(benchmark::State& state) {
  Bench bench(static_cast<uint64_t>(state.range(0)) << 10);
  const double cpu_before_us = cpu_us();
  for (auto _ : state) bench.play_hour();
  const double cpu = cpu_us() - cpu_before_us;
  const FilterStoreStats stats = bench.store->stats();
  const double plays = static_cast<double>(state.iterations()) * static_cast<double>(kUsers * kPlaysPerHour);
  state.counters["cpu_us_per_play"] = cpu / plays;
  state.counters["logical_bytes_per_play"] = static_cast<double>(stats.bytes_written) / plays;
  state.counters["physical_bytes_per_play"] = static_cast<double>(stats.physical_bytes_written) / plays;
  state.counters["disk_bytes_per_play"] = static_cast<double>(stats.bytes_on_disk) / plays;
}
BENCHMARK(hours)->Arg(64)->Arg(1024)->Arg(32 << 10)->Iterations(kHours)->Unit(benchmark::kMillisecond)->UseRealTime();

// Reads all four filters of a random user from the cache. The argument is how many hours of operands are not folded
// yet.
void read_four_months(benchmark::State& state) {
  Bench bench(32 << 20);
  bench.play_months();
  for (int64_t hour = 0; hour < state.range(0); ++hour) bench.play_hour();
  const std::vector<PeriodIndex> periods = bench.calendar.window(kNowMs);
  std::vector<StoredFilter> filters;
  for (size_t u = 0; u < kReaders; ++u) must(bench.store->read(bench.users[u], periods, filters));
  for (auto _ : state) {
    filters.clear();
    must(bench.store->read(bench.users[bench.rng() % kReaders], periods, filters));
    benchmark::DoNotOptimize(filters.data());
  }
  state.counters["filters"] = static_cast<double>(filters.size());
}
BENCHMARK(read_four_months)->Arg(0)->Arg(1)->Arg(4)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
