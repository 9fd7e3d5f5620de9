// Rebuild of a partition's recent plays from event blocks, and one user's lookup. Blocks hold 1,000 plays of users
// drawn at random, so nearly every play is a user of its own: the worst case for caches.
#include <benchmark/benchmark.h>

#include <random>

#include "base/hash.h"
#include "serving/query/recent_plays.h"

namespace bloomring {
namespace {

constexpr int64_t kStartMs = 1'795'248'000'000;
constexpr int64_t kSlotMs = 3'600'000;
constexpr int kPlaysInABlock = 1'000;
constexpr int kLapSlots = 7;

std::string user_key(uint64_t user) { return std::string(UserKey("", "user" + std::to_string(user)).bytes()); }

// The blocks of `plays` plays of `users` users over a lap and the filling slot.
std::vector<std::string> make_blocks(uint64_t users, uint64_t plays) {
  std::mt19937_64 random(1);
  std::vector<std::string> blocks;
  EventBlockBuilder builder;
  for (uint64_t i = 0; i < plays; ++i) {
    const std::string key = user_key(random() % users);
    builder.add(key, {EventKind::kPlay, ItemHash(random()), kStartMs});
    if (builder.events() == kPlaysInABlock) blocks.push_back(builder.finish(PartitionId(0), 1));
  }
  return blocks;
}

int64_t log_time_of(size_t block, size_t blocks) {
  return kStartMs + static_cast<int64_t>(block * kLapSlots / blocks) * kSlotMs;
}

void fill(RecentPlays& plays, const std::vector<std::string>& blocks, bool verify) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    EventBlockReader block =
        verify ? EventBlockReader::open(blocks[i], PartitionId(0), 1).value() : EventBlockReader::reopen(blocks[i]);
    plays.apply(Offset(static_cast<int64_t>(i)), log_time_of(i, blocks.size()), block);
  }
}

// Arguments: users of the partition, plays of the lap, whether blocks are verified as a fetch from Kafka is.
void BM_Rebuild(benchmark::State& state) {
  const auto blocks = make_blocks(static_cast<uint64_t>(state.range(0)), static_cast<uint64_t>(state.range(1)));
  const Calendar calendar = Calendar::create({}).value();
  RecentPlaysStats stats;
  for (auto _ : state) {
    auto plays = std::make_unique<RecentPlays>(RecentPlaysConfig{}, calendar, Offset(0));
    fill(*plays, blocks, state.range(2) != 0);
    stats = plays->stats();
    state.PauseTiming();
    plays.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
  state.counters["bytes_per_play"] = static_cast<double>(stats.bytes) / static_cast<double>(stats.plays);
}
BENCHMARK(BM_Rebuild)
    ->Args({40'000, 4'000'000, 1})
    ->Args({1'000'000, 4'000'000, 0})
    ->Args({1'000'000, 4'000'000, 1})
    ->Args({1'000'000, 20'000'000, 1})
    ->Unit(benchmark::kMillisecond);

// One user's lookup among a million, cold: another user each time.
void BM_Lookup(benchmark::State& state) {
  constexpr uint64_t kUsers = 1'000'000;
  const auto blocks = make_blocks(kUsers, static_cast<uint64_t>(state.range(0)));
  RecentPlays plays({}, Calendar::create({}).value(), Offset(0));
  fill(plays, blocks, false);
  std::mt19937_64 random(2);
  std::vector<RecentPlay> found;
  std::vector<Forget> forgets;
  uint64_t total = 0;
  for (auto _ : state) {
    found.clear();
    plays.lookup(user_hash(user_key(random() % kUsers)), PeriodIndex(0), kAllPlays, found, forgets);
    total += found.size();
  }
  state.counters["plays_found"] = benchmark::Counter(static_cast<double>(total), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_Lookup)->Arg(4'000'000)->Arg(20'000'000);

}  // namespace
}  // namespace bloomring

BENCHMARK_MAIN();
