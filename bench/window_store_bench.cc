// The window store under the window stage's load: blocks of 64 KiB, about 2,000 events each, staged with their state.
//
//   window_store_bench       (TMPDIR says on which disk)
//
// An hour is kBlocksPerHour blocks; two hours are kept, older ones released; a flush every kBlocksPerFlush blocks.
// Counters: CPU of all threads per event, and bytes on the disk at the end for each block that is kept (1: nothing but
// the blocks).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>
#include <string>

#include "state/window/rocks_window_store.h"

using namespace bloomring;

namespace {

constexpr int64_t kBlocksPerHour = 400;
constexpr int64_t kBlocksPerFlush = 100;
constexpr int64_t kHours = 10;
constexpr size_t kBlockBytes = 64 << 10;
constexpr double kEventsPerBlock = 2000;

void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

double cpu_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const timeval user = usage.ru_utime, system = usage.ru_stime;
  return static_cast<double>(user.tv_sec + system.tv_sec) * 1e6 + static_cast<double>(user.tv_usec + system.tv_usec);
}

std::string random_block() {
  std::mt19937_64 rng(1);
  std::string block(kBlockBytes, '\0');
  for (char& c : block) c = static_cast<char>(rng());
  return block;
}

void stage_block(RocksWindowStore& store, WindowState& state, const std::string& block) {
  const Offset at = state.applied;
  state.filling = HourIndex(at.value / kBlocksPerHour);
  state.applied = Offset(at.value + 1);
  if (at.value % kBlocksPerHour == 0) {
    state.hours.push_back({state.filling, {at, at}, 0, 0});
    if (state.hours.size() > 2) {
      const HourIndex oldest = state.hours.front().hour;
      state.hours.erase(state.hours.begin());
      must(store.release({oldest}, state));
    }
  }
  state.hours.back().range.to = state.applied;
  must(store.stage(state.filling, at, block, state));
  if (at.value % kBlocksPerFlush == kBlocksPerFlush - 1) must(store.flush());
}

void stage(benchmark::State& state) {
  std::string path = (std::filesystem::temp_directory_path() / "bloomring-bench-XXXXXX").string();
  BLOOMRING_CHECK(::mkdtemp(path.data()) != nullptr, path);
  const StateMemory memory{StateMemoryConfig()};
  auto store = RocksWindowStore::open({path, 1}, memory);
  must(store.status());
  WindowState window;
  window.partition_count = 1;
  const std::string block = random_block();
  const double cpu_before_us = cpu_us();
  for (auto _ : state) stage_block(**store, window, block);
  const double events = static_cast<double>(state.iterations()) * kEventsPerBlock;
  const double kept_bytes = static_cast<double>(2 * kBlocksPerHour * kBlockBytes);
  state.counters["cpu_us_per_event"] = (cpu_us() - cpu_before_us) / events;
  state.counters["disk_per_kept_byte"] = static_cast<double>((*store)->bytes_on_disk()) / kept_bytes;
  store->reset();
  std::filesystem::remove_all(path);
}
BENCHMARK(stage)->Iterations(kBlocksPerHour* kHours)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
