// One question to the query core: 10,000 candidates of which 500 were played, 4 months of 3,000 plays, a lap of 300
// recent plays, 100 served, filters cached. Over 64 users in turn, so that their filters do not all stay in the
// first-level caches. The budget is 150 us of CPU for all of it, hashing included.
#include <benchmark/benchmark.h>

#include <random>

#include "base/hash.h"
#include "serving/query/candidate_filter.h"
#include "serving/service/request_codec.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring {
namespace {

constexpr int64_t kNowMs = 1'795'248'000'000;  // 2026-11-21.
constexpr uint64_t kUsers = 64;
constexpr uint64_t kPlaysInAMonth = 3'000;
constexpr uint64_t kRecentPlays = 300;
constexpr uint64_t kMonths = 4;
constexpr uint64_t kServed = 100;

// Item numbers: a user's plays are [user * 100,000, + kMonths * kPlaysInAMonth + kRecentPlays), the served ones follow.
std::string item_of(uint64_t number) { return "video" + std::to_string(1'000'000'000 + number); }
std::string user_of(uint64_t user) { return "user" + std::to_string(user); }
uint64_t first_play(uint64_t user) { return user * 100'000; }

struct World {
  World()
      : clock(kNowMs),
        calendar(Calendar::create({}).value()),
        store({}, calendar, clock, 1),
        core(store, calendar, clock, {}),
        partition(PartitionId(0), {}, calendar, Offset(0)) {
    for (uint64_t user = 0; user < kUsers; ++user) fill(user);
    partition.set_fresh_at_ns(clock.steady_ns());
    partition.set_ready();
  }

  void fill(uint64_t user) {
    const std::string key(UserKey("", user_of(user)).bytes());
    const std::vector<PeriodIndex> window = calendar.window(kNowMs);
    std::vector<ItemHash> items;
    for (uint64_t month = 0; month < kMonths; ++month) {
      items.clear();
      for (uint64_t i = 0; i < kPlaysInAMonth; ++i)
        items.push_back(item_hash(item_of(first_play(user) + month * kPlaysInAMonth + i)));
      const FilterUpdate update{key, window[month], items};
      BLOOMRING_CHECK(store.apply(std::span(&update, 1)).ok(), "memory does not fail");
    }
    EventBlockBuilder builder;
    for (uint64_t i = 0; i < kRecentPlays; ++i) {
      const ItemHash item = item_hash(item_of(first_play(user) + kMonths * kPlaysInAMonth + i));
      builder.add(key, {EventKind::kPlay, item, kNowMs});
    }
    const std::string bytes = builder.finish(PartitionId(0), 1);
    EventBlockReader block = EventBlockReader::reopen(bytes);
    partition.apply(Offset(static_cast<int64_t>(user)), kNowMs, block);
    for (uint64_t i = 0; i < kServed; ++i) {
      const ItemHash item = item_hash(item_of(first_play(user) + kMonths * kPlaysInAMonth + kRecentPlays + i));
      partition.note_served(user_hash(key), item, kNowMs - static_cast<int64_t>(i));
    }
  }

  ManualClock clock;
  Calendar calendar;
  MemoryFilterStore store;
  CandidateFilter core;
  ReplicaPartition partition;
};

// 5 % of the candidates were played.
v1::FilterRequest make_request(uint64_t user, uint64_t candidates) {
  std::mt19937_64 random(user);
  v1::FilterRequest request;
  request.set_user(user_of(user));
  v1::PackedIds& packed = *request.mutable_candidates()->mutable_packed();
  for (uint64_t i = 0; i < candidates; ++i) {
    const uint64_t played = first_play(user) + random() % (kMonths * kPlaysInAMonth + kRecentPlays);
    const std::string id = item_of(i % 20 == 0 ? played : 100'000'000 + random() % 1'000'000'000);
    packed.mutable_bytes()->append(id);
    packed.mutable_lengths()->push_back(static_cast<char>(id.size()));
  }
  return request;
}

std::vector<v1::FilterRequest> make_requests(uint64_t candidates) {
  std::vector<v1::FilterRequest> requests;
  for (uint64_t user = 0; user < kUsers; ++user) requests.push_back(make_request(user, candidates));
  return requests;
}

// Validate, hash, look up, judge, encode: everything but gRPC.
void BM_Request(benchmark::State& state) {
  World world;
  const auto requests = make_requests(static_cast<uint64_t>(state.range(0)));
  uint64_t turn = 0, seen = 0;
  for (auto _ : state) {
    const DecodedFilter decoded = decode(requests[turn++ % kUsers], {}).value();
    const FilterAnswer answer = world.core.answer(world.partition, decoded.question());
    v1::FilterResponse response;
    encode(answer, world.calendar, v1::EXPLAIN_LEVEL_UNSPECIFIED, response);
    seen += response.seen_count();
  }
  state.counters["seen"] = benchmark::Counter(static_cast<double>(seen), benchmark::Counter::kAvgIterations);
  const FilterCacheStats cache = world.core.cache_stats();
  state.counters["hit_rate"] = static_cast<double>(cache.hits) / static_cast<double>(cache.hits + cache.misses);
}
BENCHMARK(BM_Request)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Where the time goes.
void BM_Decode(benchmark::State& state) {
  const auto requests = make_requests(static_cast<uint64_t>(state.range(0)));
  uint64_t turn = 0;
  for (auto _ : state) benchmark::DoNotOptimize(decode(requests[turn++ % kUsers], {}));
}
BENCHMARK(BM_Decode)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Of decoding, the hashing alone.
void BM_Hash(benchmark::State& state) {
  const auto requests = make_requests(static_cast<uint64_t>(state.range(0)));
  std::vector<ItemHash> hashes(static_cast<size_t>(state.range(0)));
  uint64_t turn = 0;
  for (auto _ : state) {
    const v1::PackedIds& packed = requests[turn++ % kUsers].candidates().packed();
    item_hashes(packed.bytes(), packed.lengths(), hashes.data());
    benchmark::DoNotOptimize(hashes.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Hash)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void BM_Core(benchmark::State& state) {
  World world;
  std::vector<DecodedFilter> questions;
  for (const auto& request : make_requests(static_cast<uint64_t>(state.range(0))))
    questions.push_back(decode(request, {}).value());
  uint64_t turn = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(world.core.answer(world.partition, questions[turn++ % kUsers].question()));
}
BENCHMARK(BM_Core)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Recent plays and served only: the store gives nothing.
void BM_CoreWithoutFilters(benchmark::State& state) {
  World world;
  std::vector<DecodedFilter> questions;
  for (const auto& request : make_requests(static_cast<uint64_t>(state.range(0))))
    questions.push_back(decode(request, {}).value());
  uint64_t turn = 0;
  for (auto _ : state) {
    const FilterQuestion question = questions[turn++ % kUsers].question();
    const UserLookup lookup = world.core.look_up(world.partition, question.user, {.items = question.ids});
    benchmark::DoNotOptimize(world.core.judge(question, lookup, nullptr, "left out"));
  }
}
BENCHMARK(BM_CoreWithoutFilters)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// A user with so many plays in a lap, all of other items: 10,000 candidates and nothing in the store.
void BM_CoreManyRecents(benchmark::State& state) {
  World world;
  const std::string key(UserKey("", "everybody").bytes());
  constexpr uint64_t kPlaysInARecord = 10'000, kSlots = 7;
  const auto plays = static_cast<uint64_t>(state.range(0));
  for (uint64_t begin = 0; begin < plays; begin += kPlaysInARecord) {
    EventBlockBuilder builder;
    for (uint64_t i = begin; i < begin + kPlaysInARecord; ++i)
      builder.add(key, {EventKind::kPlay, item_hash(item_of(i)), kNowMs});
    const std::string bytes = builder.finish(PartitionId(0), 1);
    EventBlockReader block = EventBlockReader::reopen(bytes);
    const auto slot = static_cast<int64_t>(begin * kSlots / plays);
    world.partition.apply(Offset(static_cast<int64_t>(kUsers + begin)), kNowMs + slot * 3'600'000, block);
  }
  std::vector<ItemHash> ids;
  for (uint64_t i = 0; i < 10'000; ++i)
    ids.push_back(item_hash(item_of(i % 2 == 0 ? i * plays / 10'000 : 1'000'000'000 + i)));
  const FilterQuestion question{key, ids, {}, {}};
  for (auto _ : state) {
    const FilterAnswer answer = world.core.answer(world.partition, question);
    if (answer.seen_count != 5'000) state.SkipWithError("a play is missing");
  }
}
BENCHMARK(BM_CoreManyRecents)->Arg(100'000)->Arg(2'000'000)->Unit(benchmark::kMicrosecond);

// So many candidates that were served and come back because of min_keep, before as many that the client has seen.
void BM_MinKeep(benchmark::State& state) {
  World world;
  const auto half = static_cast<size_t>(state.range(0));
  std::vector<ItemHash> ids(half, item_hash(item_of(first_play(0) + kMonths * kPlaysInAMonth + kRecentPlays)));
  const std::vector<ItemHash> client_seen = {item_hash("known")};
  ids.insert(ids.end(), half, client_seen.front());
  const std::string key(UserKey("", user_of(0)).bytes());
  for (auto _ : state) {
    const FilterAnswer answer = world.core.answer(world.partition, {key, ids, {}, client_seen, ids.size()});
    BLOOMRING_CHECK(answer.verdicts.size() == ids.size() && answer.seen_count == half, "half of them come back");
  }
}
BENCHMARK(BM_MinKeep)->Arg(1'000)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

void BM_Encode(benchmark::State& state) {
  World world;
  std::vector<FilterAnswer> answers;
  for (const auto& request : make_requests(static_cast<uint64_t>(state.range(0)))) {
    const DecodedFilter decoded = decode(request, {}).value();
    answers.push_back(world.core.answer(world.partition, decoded.question()));
  }
  uint64_t turn = 0;
  for (auto _ : state) {
    v1::FilterResponse response;
    encode(answers[turn++ % kUsers], world.calendar, v1::EXPLAIN_LEVEL_UNSPECIFIED, response);
    benchmark::DoNotOptimize(response);
  }
}
BENCHMARK(BM_Encode)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// The work of gRPC besides: the messages to bytes and back.
void BM_Parse(benchmark::State& state) {
  std::vector<std::string> bytes;
  for (const auto& request : make_requests(static_cast<uint64_t>(state.range(0))))
    bytes.push_back(request.SerializeAsString());
  uint64_t turn = 0;
  for (auto _ : state) {
    v1::FilterRequest request;
    benchmark::DoNotOptimize(request.ParseFromString(bytes[turn++ % kUsers]));
  }
}
BENCHMARK(BM_Parse)->Arg(2'000)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bloomring

BENCHMARK_MAIN();
