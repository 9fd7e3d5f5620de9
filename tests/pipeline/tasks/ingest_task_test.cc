// The commits of an ingest task, its handling of records that it has read when its partitions are taken away, and the
// clock by which it judges. (The simulation tests the rest.)
#include "pipeline/tasks/ingest_task.h"

#include "tests/pipeline/tasks/ingest_rig.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("ingest task: what was on its way when its partitions were taken away is no repeat when it is read again") {
  const bool lost = GENERATE(true, false);
  IngestRig rig;
  rig.play("a");
  rig.play("b");
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 1);
  rig.task().drop_sources(lost);
  CHECK(rig.log.committed == 0);
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 2);
  CHECK(rig.events(1) == 2);
  rig.step();
  CHECK(rig.log.committed == 0);  // Neither block is acknowledged: a crash now must not lose the plays.
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: what the sink had not taken when the partitions were lost is not written for the next owner") {
  IngestRig rig;
  rig.wire.room = 0;
  rig.play("a");
  rig.assign();
  rig.step();
  rig.task().drop_sources(/*lost=*/true);
  rig.wire.room = 100;
  rig.step();
  CHECK(rig.wire.sent.empty());
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 1);
  CHECK(rig.events(0) == 1);
}

TEST_CASE("ingest task: partitions that are given back in order leave the memory of repeats as it was") {
  IngestRig rig;
  rig.play("a");
  rig.assign();
  rig.step();
  rig.task().begin_release();
  CHECK_FALSE(rig.task().released());
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.task().released());
  rig.task().drop_sources(/*lost=*/false);
  CHECK(rig.log.committed == 1);
  rig.play("a");
  rig.assign();
  rig.step();
  rig.step();
  CHECK(rig.wire.sent.size() == 1);
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: nothing is committed before what was made of it is acknowledged, blocks and dead letters") {
  IngestRig rig;
  rig.play("a");
  rig.log.add("no play", kNowMs);
  rig.assign();
  rig.step();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 2);
  CHECK(rig.log.committed == 0);
  const std::vector<uint64_t> tickets = std::exchange(rig.wire.unacknowledged, {});
  const size_t first = GENERATE(0, 1);
  const bool letter_first = rig.wire.sent[first].topic == "plays-dead";
  rig.wire.acknowledged = {tickets[first]};
  rig.step();
  CHECK(rig.log.committed == (letter_first ? 0 : 1));
  rig.wire.acknowledged = {tickets[1 - first]};
  rig.step();
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: with a clock that is behind, by minutes or months, no play is refused, changed or passed") {
  IngestRig rig(/*stamped=*/true);
  const int64_t off_ms = GENERATE(as<int64_t>{}, -61'000, -601'000, -8LL * 30 * 86'400'000);
  rig.off_ms = off_ms;
  IngestTask& task = rig.task();
  rig.play_at("a", kNowMs);
  rig.play_at("b", kNowMs + 1);
  rig.assign();
  rig.step_and_acknowledge(20);
  CHECK(task.clock().state() == IngestClock::State::kOff);
  CHECK(rig.times_ms().empty());
  CHECK(rig.log.committed <= 0);
  CHECK(task.ingest().stats().refused_in_all() == 0);
  rig.off_ms = 0;  // Somebody sets it right.
  rig.step_and_acknowledge(20);
  CHECK(task.clock().state() == IngestClock::State::kGood);
  CHECK(rig.times_ms() == std::vector<int64_t>{kNowMs, kNowMs + 1});
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: with a clock that is ahead no play is packed with a time that is ahead of the brokers") {
  IngestRig rig(/*stamped=*/true);
  rig.off_ms = GENERATE(as<int64_t>{}, 59'000, 3'600'000);
  rig.play_at("fast", kNowMs + 50'000);  // Of a client whose clock is ahead, too.
  rig.assign();
  rig.step_and_acknowledge(3);
  rig.off_ms = 0;
  rig.step_and_acknowledge(20);
  REQUIRE(rig.times_ms().size() == 1);
  CHECK(rig.times_ms()[0] < kNowMs + 40'000);
  CHECK(rig.log.committed == 1);
}

TEST_CASE("ingest task: a clock that jumps while it runs changes the time of no play, and stops the reading") {
  IngestRig rig(/*stamped=*/true);
  IngestTask& task = rig.task();
  rig.play_at("a", kNowMs);
  rig.assign();
  rig.step_and_acknowledge(3);
  CHECK(task.clock().state() == IngestClock::State::kGood);
  rig.off_ms = GENERATE(as<int64_t>{}, -3'600'000, 3'600'000, 8LL * 30 * 86'400'000);
  const int64_t now_ms = rig.clock.now_ms();
  rig.play_at("b", now_ms);
  rig.step_and_acknowledge(3);
  CHECK(rig.times_ms() == std::vector<int64_t>{kNowMs, now_ms});
  CHECK(task.clock().state() == IngestClock::State::kOff);
  rig.play_at("c", now_ms + 1);
  rig.step_and_acknowledge(5);
  CHECK(rig.times_ms().size() == 2);
  CHECK(rig.log.committed == 2);
  rig.off_ms = 0;
  rig.step_and_acknowledge(20);
  CHECK(rig.times_ms().size() == 3);
  CHECK(rig.log.committed == 3);
}

TEST_CASE("ingest task: a play that is ahead of every clock is clamped or refused once the brokers' time is known") {
  IngestRig rig(/*stamped=*/true);
  IngestTask& task = rig.task();
  rig.play_at("ahead", kNowMs + 3'600'000);
  rig.play_at("far", kNowMs + 2 * 86'400'000);
  rig.assign();
  rig.step_and_acknowledge(6);
  REQUIRE(rig.times_ms().size() == 1);
  CHECK(rig.times_ms()[0] < kNowMs + 60'000);
  CHECK(task.ingest().stats().refused_in_all() == 1);
  rig.step_and_acknowledge(2);
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: after a process stood still, acknowledgements of before take no time from the plays since") {
  IngestRig rig(/*stamped=*/true);
  rig.play_at("a", kNowMs);
  rig.assign();
  rig.step_and_acknowledge(1);
  rig.step();  // The block with it is on its way.
  REQUIRE((rig.times_ms().size() == 1 && rig.wire.unacknowledged.size() == 1));
  rig.wire.stamped_ms = rig.clock.now_ms();
  rig.clock.advance_ms(10'000);  // It stands still, and its partitions go to another one.
  rig.task().drop_sources(/*lost=*/true);
  rig.log.committed = 1;
  const int64_t again_ms = rig.clock.now_ms() - 1'000;
  rig.play_at("again", again_ms);  // Of an item that the user has forgotten a moment before.
  rig.assign();
  rig.wire.acknowledge_all();
  rig.step_and_acknowledge(20);
  CHECK(rig.times_ms() == std::vector<int64_t>{kNowMs, again_ms});
}

TEST_CASE("ingest task: brokers that stamp no time that an event could have are not compared with") {
  IngestRig rig;
  const ManualClock long_ago(1234);  // As the embedded broker stamps.
  rig.wire.brokers = &long_ago;
  rig.play_at("a", kNowMs);
  rig.play_at("b", kNowMs + 60'000);
  rig.assign();
  rig.step_and_acknowledge(5);
  CHECK(rig.task().clock().state() == IngestClock::State::kAlone);
  CHECK(rig.times_ms().size() == 2);
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: before its first commit a partition counts as committed up to where it began") {
  IngestRig rig;
  rig.play("a");
  rig.assign();
  CHECK(rig.task().sources()[0].committed == Offset(0));
  rig.step();
  CHECK(rig.task().sources()[0].next == Offset(1));
  CHECK(rig.task().sources()[0].committed == Offset(0));
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.task().sources()[0].committed == Offset(1));
}

TEST_CASE("ingest task: a refused record's dead letter has the headers of the record, and no other's") {
  IngestRig rig;
  const RecordHeaders headers = {{"trace", "1"}, {"bloomring.replay.count", "1"}};
  rig.log.offsets.push_back(GapLog::Record{"no play", kNowMs, headers});
  rig.log.add("no play either", kNowMs);
  rig.assign();
  rig.step();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 2);
  const RecordHeaders& first = rig.wire.sent[0].headers;
  CHECK(std::vector(first.end() - 2, first.end()) == headers);
  CHECK(rig.wire.sent[1].headers.size() == first.size() - 2);
}
