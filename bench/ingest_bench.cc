// The cost of a play on its way: parsing, packing, decoding of event blocks, drain of a slot, union into filters.
//
//   ingest_bench [--benchmark_filter=...]       (TMPDIR says on which disk the embedded store lies)
//
// Plays are those of `bloomring generate`: 100 a user over 24 hours, in 10 partitions. Times are of one play of what
// goes in; process CPU where threads of RocksDB take part.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "load/load_model.h"
#include "operators/filters/merge.h"
#include "operators/filters/slot_drain.h"
#include "operators/ingest.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;
constexpr int64_t kHourMs = 3'600'000;
constexpr uint32_t kHours = 24;
constexpr uint32_t kPartitions = 10;
constexpr PartitionId kPartition(0);
constexpr size_t kSample = 200'000;  // Plays that the benchmarks of ingest go round over: 25 MB.

template <typename T>
T must(Result<T> result) {
  BLOOMRING_CHECK(result.ok(), result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

LoadConfig load(uint32_t users) {
  LoadConfig config;
  config.users = users;
  config.plays = uint64_t{users} * 100;
  config.hours = kHours;
  config.start_ms = kNowMs - kHours * kHourMs;
  return config;
}

// The middle of a day of 40,000 users: plays of one record each.
const std::vector<std::string>& sample() {
  static const std::vector<std::string> records = [] {
    LoadModel model(load(40'000));
    LoadPlay play;
    for (int i = 0; i < 2'000'000; ++i) model.next(play);
    std::vector<std::string> made(kSample);
    const LoadPlayWriter writer;
    for (std::string& json : made) {
      model.next(play);
      writer.write(play, json);
    }
    return made;
  }();
  return records;
}

IngestConfig ingest_config() {
  IngestConfig config;
  config.partition_count = kPartitions;
  return config;
}

// Slots of one partition: the event blocks of each hour of event time.
using Slot = std::vector<std::string>;
const std::vector<Slot>& slots() {
  static const std::vector<Slot> made = [] {
    std::vector<Slot> hours(kHours);
    const LoadConfig config = load(10'000);
    LoadModel model(config);
    Ingest ingest(ingest_config());
    const LoadPlayWriter writer;
    std::string json;
    size_t hour = 0;
    const auto close = [&] {
      std::string block = ingest.close_block(kPartition);
      if (!block.empty()) hours[hour].push_back(std::move(block));
    };
    for (LoadPlay play; model.next(play);) {
      const auto play_hour = static_cast<size_t>((play.time_ms - config.start_ms) / kHourMs);
      if (play_hour != hour) close();
      hour = play_hour;
      writer.write(play, json);
      const Ingest::Outcome& taken = ingest.take(json, IngestTime::at(kNowMs));
      if (!taken.full) continue;
      if (taken.partition == kPartition)
        close();
      else
        static_cast<void>(ingest.close_block(taken.partition));
    }
    close();
    return hours;
  }();
  return made;
}

uint64_t events_of(const Slot& slot) {
  uint64_t events = 0;
  for (const std::string& block : slot) events += EventBlockReader::reopen(block).events();
  return events;
}

// A slot in memory.
class SlotInMemory final : public WindowStore {
 public:
  explicit SlotInMemory(const Slot& slot) : slot_(slot) {}
  Result<std::optional<WindowState>> load() override { return std::optional<WindowState>(); }
  Status stage(HourIndex, Offset, std::string_view, const WindowState&) override { return {}; }
  Status save(const WindowState&) override { return {}; }
  Status scan(HourIndex, const std::function<Status(Offset, std::string_view)>& visit) override {
    for (size_t i = 0; i < slot_.size(); ++i) BLOOMRING_TRY(visit(Offset(static_cast<int64_t>(i)), slot_[i]));
    return {};
  }
  Result<std::optional<std::string>> find(HourIndex, Offset) override { return std::optional<std::string>(); }
  Status release(const std::vector<HourIndex>&, const WindowState&) override { return {}; }
  Status flush() override { return {}; }
  Status clear() override { return {}; }

 private:
  const Slot& slot_;
};

SlotDrain drain_of(const Slot& slot, int64_t hour, size_t pass_bytes) {
  const StagedHour staged{HourIndex(hour), {Offset(0), Offset(static_cast<int64_t>(slot.size()))}, events_of(slot)};
  return SlotDrain({.id = 1, .slot = {}, .attempt = DrainAttempt::kFirst, .hours = {staged}}, {}, kPartition,
                   kPartitions, {.pass_bytes_max = pass_bytes, .passes = 1});
}

std::vector<std::string> batches_of(const Slot& slot, int64_t hour) {
  SlotInMemory store(slot);
  SlotDrain drain = drain_of(slot, hour, 64 << 20);
  std::vector<std::string> records;
  while (!drain.done()) must(drain.next_pass(store, records));
  return records;
}

void per_play(benchmark::State& state, uint64_t plays) {
  state.counters["cpu_per_play"] =
      benchmark::Counter(static_cast<double>(plays), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void parse(benchmark::State& state) {
  const std::vector<std::string>& records = sample();
  PlayParser parser{PlayMapping{}};
  Play play;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parser.parse(records[i], kNowMs, play));
    if (++i == kSample) i = 0;
  }
  per_play(state, static_cast<uint64_t>(state.iterations()));
}
BENCHMARK(parse);

// Everything of ingest but the parsing and the search for repeats.
void hash_and_pack(benchmark::State& state) {
  struct Parsed {
    std::string user_key;
    std::string item;
    int64_t time_ms;
  };
  std::vector<Parsed> plays;
  PlayParser parser{PlayMapping{}};
  Play play;
  for (const std::string& json : sample()) {
    BLOOMRING_CHECK(parser.parse(json, kNowMs, play) == Refusal::kNone, json);
    plays.push_back({std::string(UserKey(play.scene, play.user).bytes()), std::string(play.item), play.time_ms});
  }
  std::vector<EventBlockBuilder> builders(kPartitions);
  size_t i = 0;
  for (auto _ : state) {
    const Parsed& p = plays[i];
    const uint64_t hash = user_hash(p.user_key);
    const PartitionId partition = partition_of(shard_of_hash(hash), kPartitions);
    EventBlockBuilder& builder = builders[static_cast<size_t>(partition.value)];
    builder.add({p.user_key, hash}, {EventKind::kPlay, item_hash(p.item), p.time_ms});
    if (builder.events() == 4096) benchmark::DoNotOptimize(builder.finish(partition, kPartitions));
    if (++i == kSample) i = 0;
  }
  per_play(state, static_cast<uint64_t>(state.iterations()));
}
BENCHMARK(hash_and_pack);

// The whole of the ingest stage but Kafka.
void ingest(benchmark::State& state) {
  const std::vector<std::string>& records = sample();
  Ingest ingest(ingest_config());
  size_t i = 0;
  for (auto _ : state) {
    const Ingest::Outcome& taken = ingest.take(records[i], IngestTime::at(kNowMs));
    if (taken.full) benchmark::DoNotOptimize(ingest.close_block(taken.partition));
    if (++i == kSample) i = 0;
  }
  per_play(state, static_cast<uint64_t>(state.iterations()));
  const IngestStats& stats = ingest.stats();
  state.counters["block_bytes_per_play"] = static_cast<double>(stats.block_bytes) / static_cast<double>(stats.accepted);
  state.counters["repeats"] = static_cast<double>(stats.repeats) / static_cast<double>(state.iterations());
}
BENCHMARK(ingest);

void read_events(EventBlockReader reader) {
  while (reader.next_user()) {
    while (reader.next_event()) benchmark::DoNotOptimize(reader.event().item);
  }
}

void block_verify(benchmark::State& state) {
  const Slot& slot = slots()[20];
  uint64_t plays = 0;
  for (auto _ : state) {
    for (const std::string& block : slot)
      plays += must(EventBlockReader::open(block, kPartition, kPartitions)).events();
  }
  per_play(state, plays);
}
BENCHMARK(block_verify);

void block_read(benchmark::State& state) {
  const Slot& slot = slots()[20];
  for (auto _ : state) {
    for (const std::string& block : slot) read_events(EventBlockReader::reopen(block));
  }
  per_play(state, static_cast<uint64_t>(state.iterations()) * events_of(slot));
}
BENCHMARK(block_read);

// The argument is the number of passes; each reads the whole slot.
void slot_drain(benchmark::State& state) {
  const Slot& slot = slots()[20];
  SlotInMemory store(slot);
  const uint64_t events = events_of(slot);
  const size_t pass_bytes = events * 48 / static_cast<size_t>(state.range(0)) + 48;
  std::vector<std::string> records;
  size_t passes = 0, bytes = 0;
  for (auto _ : state) {
    SlotDrain drain = drain_of(slot, 0, pass_bytes);
    passes = drain.passes();
    records.clear();
    while (!drain.done()) must(drain.next_pass(store, records));
  }
  for (const std::string& record : records) bytes += record.size();
  per_play(state, static_cast<uint64_t>(state.iterations()) * events);
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["batch_bytes_per_play"] = static_cast<double>(bytes) / static_cast<double>(events);
}
BENCHMARK(slot_drain)->Arg(1)->Arg(4)->Arg(16);

// Each iteration merges the next hour of the day, kHours in all.
void merge_day(benchmark::State& state, LocalFilterStore& store, const Calendar& calendar) {
  std::vector<std::vector<std::string>> hours;
  for (size_t hour = 0; hour < kHours; ++hour) hours.push_back(batches_of(slots()[hour], static_cast<int64_t>(hour)));
  Merge merge({kPartition, kPartitions}, calendar, must(store.take_over(kPartition)), std::nullopt);
  std::string detail;
  size_t hour = 0;
  for (auto _ : state) {
    for (const std::string& record : hours[hour]) {
      const auto applied = must(merge.apply(record, kNowMs, detail));
      BLOOMRING_CHECK(applied && applied->refusal == Refusal::kNone, detail);
    }
    must(store.sync());
    ++hour;
  }
  per_play(state, merge.stats().plays);
  state.counters["plays_per_batch"] =
      static_cast<double>(merge.stats().plays) / static_cast<double>(merge.stats().batches);
  state.counters["store_bytes_per_play"] =
      static_cast<double>(store.stats().bytes_written) / static_cast<double>(merge.stats().plays);
}

void merge_memory(benchmark::State& state) {
  const ManualClock clock(kNowMs);
  const Calendar calendar = must(Calendar::create(RetentionConfig()));
  MemoryFilterStore store(filter::Policy(), calendar, clock, kPartitions);
  merge_day(state, store, calendar);
}
BENCHMARK(merge_memory)->Iterations(kHours);

void merge_embedded(benchmark::State& state) {
  const ManualClock clock(kNowMs);
  const Calendar calendar = must(Calendar::create(RetentionConfig()));
  const StateMemory memory{StateMemoryConfig()};
  std::string folder = (std::filesystem::temp_directory_path() / "bloomring-bench-XXXXXX").string();
  BLOOMRING_CHECK(::mkdtemp(folder.data()) != nullptr, folder);
  EmbeddedFilterStoreConfig config;
  config.path = folder;
  config.partition_count = kPartitions;
  {
    const auto store = must(EmbeddedFilterStore::open(config, calendar, clock, memory));
    merge_day(state, *store, calendar);
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(merge_embedded)->Iterations(kHours)->MeasureProcessCPUTime();

}  // namespace

BENCHMARK_MAIN();
