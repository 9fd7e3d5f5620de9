// Promises of the window task that its sink sees: in which order it sends.
#include "pipeline/tasks/window_task.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/filter_window.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kStartMs = 1'795'046'400'000;  // A full hour.
const PartitionId kPartition(0);

// Takes everything, and acknowledges what the test says.
class HeldSink final : public Sink {
 public:
  struct Sent {
    std::string value;
    uint64_t ticket;
  };
  struct Book {
    std::vector<Sent> sent;
    std::vector<uint64_t> durable;  // Not yet told.

    size_t slot_ends() const {
      return static_cast<size_t>(std::ranges::count_if(
          sent, [](const Sent& one) { return static_cast<uint8_t>(one.value[0]) == kSlotEndKind; }));
    }
  };
  explicit HeldSink(Book& book) : book_(book) {}
  Status send(OutRecord& record, uint64_t ticket) override {
    book_.sent.push_back({std::move(record.value), ticket});
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    tickets.insert(tickets.end(), book_.durable.begin(), book_.durable.end());
    book_.durable.clear();
    return {};
  }

 private:
  Book& book_;
};

struct Bed {
  Random random{1};
  ManualClock clock{kStartMs};
  SimLog log{random, clock};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  SimDisk disk;
  HeldSink::Book book;
  size_t acknowledged = 0;
  std::unique_ptr<WindowTask> task;

  Bed() {
    log.trouble = 0;
    WindowTaskConfig config;
    config.window = {kPartition, 1, {6, kHourMs}, 0.5};
    const SlotDrainConfig drain{.record_bytes = 1};  // A record for each play.
    auto store = std::make_unique<SimWindowStore>(disk);
    Window window = testing::filter_window(config.window, *store, {}, std::nullopt, drain);
    auto source = std::make_unique<SimSource>(log, "window", "user-events", kPartition, Offset(0));
    task = std::make_unique<WindowTask>(config, clock, std::move(store), std::move(window),
                                        testing::filter_log(filters), std::move(source),
                                        std::make_unique<HeldSink>(book));
  }
  void play(int users) {
    EventBlockBuilder builder;
    for (int n = 0; n < users; ++n) {
      const UserKey user("", "u" + std::to_string(n));
      builder.add(user.bytes(), {EventKind::kPlay, item_hash("a"), clock.now_ms()});
    }
    log.append("user-events", kPartition, builder.finish(kPartition, 1));
  }
  void advance_to(double hours) {
    const int64_t until_ms = kStartMs + static_cast<int64_t>(hours * static_cast<double>(kHourMs));
    for (; clock.now_ms() < until_ms; clock.advance_ms(60'000)) step();
  }
  // The sent records become durable.
  void acknowledge_all() {
    for (; acknowledged < book.sent.size(); ++acknowledged) book.durable.push_back(book.sent[acknowledged].ticket);
    step();
  }
  // The filter store covers what lies below this offset.
  void merge_to(int64_t offset) {
    const MergedWatermark watermark{.offset = Offset(offset), .hour = HourIndex(kStartMs / kHourMs), .ahead = {}};
    REQUIRE(filters.advance(kPartition, watermark).ok());
    clock.advance_ms(60'000);
  }
  void step() {
    for (int i = 0; i < 4; ++i) REQUIRE(task->step(clock.now_ms()).ok());
  }
};

}  // namespace

TEST_CASE("window task: a slot end is sent only after every batch of its drain was acknowledged, in whatever order") {
  Bed bed;
  bed.play(5);
  bed.advance_to(1.9);
  REQUIRE(bed.book.sent.size() == 5);
  REQUIRE(bed.book.slot_ends() == 0);
  const size_t last = GENERATE(0, 2, 4);
  for (size_t i = 0; i < 5; ++i) {
    if (i == last) continue;
    bed.book.durable.push_back(bed.book.sent[i].ticket);
    bed.step();
    CHECK(bed.book.slot_ends() == 0);
  }
  bed.book.durable.push_back(bed.book.sent[last].ticket);
  bed.step();
  CHECK(bed.book.slot_ends() == 1);
  CHECK(bed.book.sent.size() == 6);
}

TEST_CASE("window task: a slot end waits for the store's key, and is summed with it") {
  Bed bed;
  bed.filters.set_slot_end_key(std::nullopt);
  bed.play(2);
  bed.advance_to(1.9);
  REQUIRE(bed.book.sent.size() == 2);
  bed.acknowledge_all();
  bed.step();
  CHECK(bed.book.slot_ends() == 0);
  const SumKey key{7, 8};
  bed.filters.set_slot_end_key(key);
  bed.step();
  REQUIRE(bed.book.slot_ends() == 1);
  const auto record = decode_batch_record(bed.book.sent.back().value, kPartition, 1);
  const SlotEnd& end = std::get<SlotEnd>(*record);
  CHECK(end.keyed_sum == slot_end_sum(end, key));
  CHECK(end.records == 2);
  CHECK(end.digest == record_digest(bed.book.sent[0].value) + record_digest(bed.book.sent[1].value));
}

TEST_CASE("window task: a drain that outlasts laps of the ring goes on to its end, and sends nothing twice") {
  Bed bed;
  bed.play(5);
  for (int lap = 1; lap <= 3; ++lap) {
    bed.advance_to(6 * lap + 0.5);  // The ring has come round, and is fed there.
    bed.play(1);
  }
  bed.advance_to(19.5);
  REQUIRE(bed.book.sent.size() == 5);
  REQUIRE(bed.book.slot_ends() == 0);
  bed.acknowledge_all();
  CHECK(bed.book.slot_ends() == 1);
  CHECK(bed.book.sent.size() == 6);
  bed.merge_to(1);
  bed.acknowledge_all();
  bed.advance_to(20);
  bed.acknowledge_all();
  CHECK(bed.book.slot_ends() == 2);
  CHECK(bed.book.sent.size() == 6 + 3 + 1);  // The three plays that joined the slot.
}

TEST_CASE("window task: acknowledgements of an abandoned drain do not count for the one that follows it") {
  Bed bed;
  bed.play(5);
  bed.advance_to(6.5);
  bed.merge_to(1);  // By a drain of an earlier life.
  bed.step();
  REQUIRE(bed.book.slot_ends() == 0);
  const std::vector<HeldSink::Sent> abandoned = bed.book.sent;
  bed.play(1);
  bed.advance_to(7.9);
  REQUIRE(bed.book.sent.size() > abandoned.size());
  for (const HeldSink::Sent& one : abandoned) bed.book.durable.push_back(one.ticket);
  bed.step();
  CHECK(bed.book.slot_ends() == 0);
  for (size_t i = abandoned.size(); i < bed.book.sent.size(); ++i) bed.book.durable.push_back(bed.book.sent[i].ticket);
  bed.step();
  CHECK(bed.book.slot_ends() == 1);
}

}  // namespace bloomring::simulation
