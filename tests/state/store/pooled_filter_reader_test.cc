#include "state/store/pooled_filter_reader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "state/store/local_filter_store.h"

namespace bloomring {
namespace {

// Counts how it ends. With gates, its reading says that it has begun and waits until it may go on.
struct CountedRead final : FilterRead {
  std::span<const UserPeriods> users() const override { return {}; }
  uint64_t caller() const override { return asked_by; }
  bool wanted() const override { return is_wanted; }
  void end(std::vector<Result<StoredUser>>) override {
    if (begun != nullptr) begun->count_down();
    if (may_end != nullptr) may_end->wait();
    if (order != nullptr) number = (*order)++;
    ++ran;
    if (ended != nullptr) ended->count_down();
  }
  void refuse() override {
    ++refused;
    if (ended != nullptr) ended->count_down();
  }

  uint64_t asked_by = 0;
  bool is_wanted = true;
  std::latch* begun = nullptr;
  std::latch* may_end = nullptr;
  std::latch* ended = nullptr;
  std::atomic<int>* order = nullptr;
  int number = -1;
  std::atomic<int> ran{0};
  std::atomic<int> refused{0};
};

// Ends each read on the thread that began it.
struct InlineReader final : LocalFilterReader {
  using LocalFilterReader::read;
  Status read(UserRef, std::span<const PeriodIndex>, std::vector<StoredFilter>&, Forgotten&) override {
    return {};
  }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId) override {
    return std::optional<MergedWatermark>();
  }
  Result<std::optional<SumKey>> slot_end_key() override { return std::optional<SumKey>(); }
  std::optional<int64_t> merged_ms() const override { return std::nullopt; }
  Status scan(const std::function<bool(const StoredFilter&, std::string_view)>&) override { return {}; }
  FilterStoreStats stats() const override { return {}; }
};

std::vector<std::shared_ptr<CountedRead>> make_reads(size_t count, std::latch* ended = nullptr) {
  std::vector<std::shared_ptr<CountedRead>> reads;
  for (size_t i = 0; i < count; ++i) {
    reads.push_back(std::make_shared<CountedRead>());
    reads.back()->ended = ended;
  }
  return reads;
}

// A pool of one thread that stands in a read until `open` is called.
struct HeldPool {
  explicit HeldPool(size_t queued_max)
      : pool(std::make_unique<PooledFilterReader>(reader, FilterReadPool{.threads = 1, .queued_max = queued_max})) {
    holding->begun = &begun;
    holding->may_end = &may_end;
    pool->begin_read(holding);
    begun.wait();
  }
  ~HeldPool() {
    if (!may_end.try_wait()) open();
  }
  void open() { may_end.count_down(); }

  InlineReader reader;
  std::latch begun{1}, may_end{1};
  const std::shared_ptr<CountedRead> holding = std::make_shared<CountedRead>();
  std::unique_ptr<PooledFilterReader> pool;
};

TEST_CASE("pooled filter reader: reads run in the order in which they came") {
  HeldPool held(8);
  std::atomic<int> order{0};
  std::latch ended{7};
  const auto reads = make_reads(7, &ended);
  for (const auto& read : reads) {
    read->order = &order;
    held.pool->begin_read(read);
  }
  held.open();
  ended.wait();
  for (int i = 0; i < 7; ++i) CHECK(reads[static_cast<size_t>(i)]->number == i);
}

TEST_CASE("pooled filter reader: when more wait than may, the oldest is refused at once") {
  HeldPool held(2);
  std::latch ended{5};
  const auto reads = make_reads(5, &ended);
  for (const auto& read : reads) held.pool->begin_read(read);
  for (size_t i = 0; i < 3; ++i) CHECK(reads[i]->refused == 1);
  CHECK(held.pool->refused() == 3);
  held.open();
  ended.wait();
  for (size_t i = 0; i < 5; ++i) CHECK(reads[i]->ran == (i < 3 ? 0 : 1));
}

TEST_CASE("pooled filter reader: a caller with 200 waiting reads pushes out none of another's, and lets it pass") {
  HeldPool held(200);
  std::atomic<int> order{0};
  std::latch ended{401};
  const auto many = make_reads(400, &ended);
  const auto one = make_reads(1, &ended);
  one[0]->asked_by = 2;
  one[0]->order = &order;
  for (const auto& read : many) read->asked_by = 1, read->order = &order;
  for (size_t i = 0; i < 200; ++i) held.pool->begin_read(many[i]);
  held.pool->begin_read(one[0]);
  for (size_t i = 200; i < 400; ++i) held.pool->begin_read(many[i]);
  CHECK(held.pool->refused() == 201);
  CHECK(one[0]->refused == 0);
  held.open();
  ended.wait();
  CHECK(one[0]->ran == 1);
  CHECK(one[0]->number == 1);  // The second of all that ran.
  for (size_t i = 0; i < 400; ++i) CHECK(many[i]->refused == (i < 201 ? 1 : 0));
}

TEST_CASE("pooled filter reader: a read that nobody wants any more is refused instead of carried out") {
  HeldPool held(4);
  std::latch ended{2};
  const auto reads = make_reads(2, &ended);
  reads[0]->is_wanted = false;
  for (const auto& read : reads) held.pool->begin_read(read);
  held.open();
  ended.wait();
  CHECK((reads[0]->ran == 0 && reads[0]->refused == 1));
  CHECK(reads[1]->ran == 1);
}

TEST_CASE("pooled filter reader: its end refuses what is queued and waits for what runs") {
  std::latch ended{3};
  const auto reads = make_reads(3, &ended);
  std::shared_ptr<CountedRead> holding;
  {
    HeldPool held(4);
    holding = held.holding;
    for (const auto& read : reads) held.pool->begin_read(read);
    std::thread end([&] { held.pool.reset(); });
    ended.wait();  // The last thing before it waits for the one that runs.
    CHECK(holding->ran == 0);
    held.open();
    end.join();
  }
  CHECK(holding->ran == 1);
  for (const auto& read : reads) CHECK((read->ran == 0 && read->refused == 1));
}

TEST_CASE("pooled filter reader: each of many reads from several threads ends exactly once") {
  constexpr size_t kThreads = 4, kReads = 2000;
  std::vector<std::vector<std::shared_ptr<CountedRead>>> reads;
  for (size_t i = 0; i < kThreads; ++i) reads.push_back(make_reads(kReads));
  InlineReader reader;
  {
    PooledFilterReader pool(reader, {.threads = 3, .queued_max = 16});
    std::vector<std::thread> beginners;
    for (const auto& own : reads) {
      beginners.emplace_back([&] {
        for (const auto& read : own) pool.begin_read(read);
      });
    }
    for (std::thread& thread : beginners) thread.join();
  }
  for (const auto& own : reads) {
    for (const auto& read : own) REQUIRE(read->ran + read->refused == 1);
  }
}

}  // namespace
}  // namespace bloomring
