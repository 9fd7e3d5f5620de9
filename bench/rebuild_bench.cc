// Rebuilding a partition from packed event blocks: the work of the window stage and of a serve replica on a log that
// they must read again. Kafka is left out: `rebuild_bench.py` measures with it.
//
//   rebuild_bench       (TMPDIR says on which disk the window store lies)
//
// Blocks hold 4,096 plays of 40,000 users. Counters: millions of events for each second of CPU of all threads, flushes
// of the window store included.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/hash.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "schemas/event_block.h"
#include "state/window/rocks_window_store.h"
#include "tests/support/filter_window.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

using namespace bloomring;

namespace {

constexpr int64_t kStartMs = 1'795'248'000'000;
constexpr int64_t kSlotMs = 3'600'000;
constexpr size_t kBlocks = 1'000;
constexpr size_t kPlaysPerBlock = 4'096;
constexpr uint64_t kUsers = 40'000;
constexpr int64_t kSlots = 6;
const PartitionId kPartition(0);

void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

double cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const timeval user = usage.ru_utime, system = usage.ru_stime;
  return static_cast<double>(user.tv_sec + system.tv_sec) + static_cast<double>(user.tv_usec + system.tv_usec) / 1e6;
}

const std::vector<std::string>& blocks() {
  static const std::vector<std::string> made = [] {
    std::mt19937_64 random(1);
    std::vector<std::string> list;
    EventBlockBuilder builder;
    while (list.size() < kBlocks) {
      const UserKey user("", "user" + std::to_string(random() % kUsers));
      builder.add(user.bytes(), {EventKind::kPlay, ItemHash(random()), kStartMs});
      if (builder.events() == kPlaysPerBlock) list.push_back(builder.finish(kPartition, 1));
    }
    return list;
  }();
  return made;
}

// The blocks as a log of a lap, read as fast as they are asked for.
class Log final : public Source {
 public:
  Result<std::optional<LogRecord>> poll() override {
    if (next_ == static_cast<int64_t>(kBlocks)) return std::optional<LogRecord>();
    const int64_t log_time_ms = kStartMs + next_ * kSlots * kSlotMs / static_cast<int64_t>(kBlocks);
    const LogRecord record{Offset(next_), log_time_ms, {}, blocks()[static_cast<size_t>(next_)]};
    ++next_;
    return std::optional(record);
  }
  Offset position() const override { return Offset(next_); }
  bool at_end() const override { return next_ == static_cast<int64_t>(kBlocks); }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(static_cast<int64_t>(kBlocks)); }
  void commit(Offset) override {}
  void go_back(Offset offset) override { next_ = offset.value; }

 private:
  int64_t next_ = 0;
};

// Takes everything and never says that it is durable: drains wait behind their first records.
class Nowhere final : public Sink {
 public:
  Status send(OutRecord&, uint64_t) override { return retry("nobody takes it"); }
  Status poll_acks(std::vector<uint64_t>&) override { return {}; }
};

struct Rig {
  ManualClock clock{kStartMs};
  Calendar calendar = std::move(Calendar::create({})).value();
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
};

void count(benchmark::State& state, double cpu_seconds) {
  const double events = static_cast<double>(state.iterations()) * static_cast<double>(kBlocks * kPlaysPerBlock);
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["million_events_per_cpu_s"] = events / cpu_seconds / 1e6;
}

void window(benchmark::State& state) {
  blocks();
  double cpu = 0;
  for (auto _ : state) {
    Rig rig;
    std::string path = (std::filesystem::temp_directory_path() / "bloomring-bench-XXXXXX").string();
    BLOOMRING_CHECK(::mkdtemp(path.data()) != nullptr, path);
    const double before = cpu_s();
    {
      const StateMemory memory{StateMemoryConfig()};
      auto store = RocksWindowStore::open({path, 1}, memory);
      must(store.status());
      WindowTaskConfig config;
      config.window = {kPartition, 1, {kSlots + 1, kSlotMs}, 0.5};
      Window opened = testing::filter_window(config.window, **store);
      WindowTask task(config, rig.clock, std::move(*store), std::move(opened), testing::filter_log(rig.filters),
                      std::make_unique<Log>(), std::make_unique<Nowhere>());
      rig.filters.fail_until_ms(kStartMs * 2);  // Reading alone is measured, not draining.
      while (!task.source().at_end()) must(task.step(kStartMs).status());
      must(task.close());
    }
    cpu += cpu_s() - before;
    std::filesystem::remove_all(path);
  }
  count(state, cpu);
}
BENCHMARK(window)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

void serve(benchmark::State& state) {
  blocks();
  double cpu = 0;
  for (auto _ : state) {
    Rig rig;
    const double before = cpu_s();
    {
      auto held = std::make_shared<ReplicaPartition>(
          kPartition, RecentPlaysConfig{kSlotMs, size_t{1} << 30}, rig.calendar, Offset(0));
      ReplicaTask task({1, kSlots * kSlotMs}, rig.clock, held, rig.filters, std::make_unique<Log>(), Offset(0),
                       Offset(kBlocks));
      for (size_t i = 0; i < kBlocks; i += 64) must(task.step(kStartMs).status());
      BLOOMRING_CHECK(held->recents().stats().plays == kBlocks * kPlaysPerBlock, "everything was read");
    }
    cpu += cpu_s() - before;
  }
  count(state, cpu);
}
BENCHMARK(serve)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
