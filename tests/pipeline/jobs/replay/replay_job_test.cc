// A replay as its log and its pace meet it: what it writes, leaves out and refuses, where it ends, and kills.
#include "pipeline/jobs/replay/replay_job.h"

#include "base/faults/fault_point.h"
#include "tests/pipeline/jobs/replay/replay_rig.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kThenMs = kReplayNowMs - 20 * kDayMs;

struct Killed {};

// Plays of 20 users on both partitions. Returns them as they must be written.
std::multiset<WrittenEvent> fill(ReplayRig& rig, int plays) {
  std::multiset<WrittenEvent> all;
  for (int i = 0; i < plays; ++i) {
    const std::string user = "u" + std::to_string(i % 20), item = "v" + std::to_string(i);
    rig.play(user, item, kThenMs + i * 1'000, i % 2);
    all.insert(play_of(user, item, kThenMs + i * 1'000));
  }
  return all;
}

std::set<WrittenEvent> different(const std::multiset<WrittenEvent>& events) { return {events.begin(), events.end()}; }

}  // namespace

TEST_CASE("replay: every play is written once, with its own event time, and the job is done") {
  ReplayRig rig;
  const auto plays = fill(rig, 500);
  const auto end = rig.run();
  INFO(end.status().message());
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  CHECK(end->progress == JobProgress{500, 500});
  CHECK(ReplayRig::count(*end, "written") == 500);
  CHECK(rig.written() == plays);
}

TEST_CASE("replay: a range of offsets, or of log time, is without its end, and what comes later is not replayed") {
  ReplayRig rig;
  fill(rig, 100);
  SECTION("offsets") {
    rig.config.from = "0=10,1=20";
    rig.config.until = "0=12,1=21";
    REQUIRE(rig.run().ok());
    CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u0", "v20", kThenMs + 20'000),
                                                       play_of("u2", "v22", kThenMs + 22'000),
                                                       play_of("u1", "v41", kThenMs + 41'000)});
  }
  SECTION("offsets of one partition leave the others alone") {
    rig.config.from = "1=49";
    REQUIRE(rig.run().ok());
    CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u19", "v99", kThenMs + 99'000)});
  }
  SECTION("time") {
    rig.config.from = std::to_string(kThenMs + 51'000);  // Of the log: the play was a second before.
    rig.config.until = std::to_string(kThenMs + 53'000);
    REQUIRE(rig.run().ok());
    CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u10", "v50", kThenMs + 50'000),
                                                       play_of("u11", "v51", kThenMs + 51'000)});
  }
  SECTION("the end is that of the first start") {
    bool more = false;
    REQUIRE(rig.run([&] {
              if (!std::exchange(more, true)) rig.play("late", "v", kReplayNowMs - 1'000);
              return false;
            }).ok());
    CHECK(rig.written().size() == 100);
  }
}

TEST_CASE("replay: a play that a forget of the log takes is not written, wherever the forget stands; a later play is") {
  ReplayRig rig;
  rig.config.until = "0=3,1=2";
  rig.play("u1", "gone", kThenMs);
  rig.play("u1", "kept", kThenMs);
  rig.play("u1", "again", kThenMs + 5'000);  // After the forget.
  rig.play("u2", "all-gone", kThenMs, 1);
  rig.play("u2", "all-later", kThenMs + 9'000, 1);
  rig.forget("u1", "gone", kThenMs + 2'000, 1);   // In another partition, behind the end of the range.
  rig.forget("u1", "again", kThenMs + 4'000, 0);  // Behind the end, too.
  rig.append(0, ReplayRig::json("forget_all", "u2", "", kThenMs + 3'000), kThenMs + 4'000);
  const auto end = rig.run();
  REQUIRE(end.ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u1", "kept", kThenMs),
                                                     play_of("u1", "again", kThenMs + 5'000),
                                                     play_of("u2", "all-later", kThenMs + 9'000)});
  CHECK(ReplayRig::count(*end, "left_out", "forgotten") == 2);
  CHECK(end->state == JobState::kDone);
}

TEST_CASE("replay: a forget in a partition that is not replayed takes plays of one that is") {
  ReplayRig rig;
  rig.play("u1", "gone", kThenMs);
  rig.play("u1", "kept", kThenMs);
  rig.forget("u1", "gone", kThenMs + 2'000, 1);
  rig.play("u2", "of-the-other-partition", kThenMs, 1);
  const bool from = GENERATE(true, false);
  (from ? rig.config.from : rig.config.until) = from ? "0=0" : "0=2";
  const auto end = rig.run();
  REQUIRE(end.ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u1", "kept", kThenMs)});
  CHECK(end->progress == JobProgress{2, 2});
}

TEST_CASE("replay: a record whose producer's clock was ahead does not end a range of time before its end") {
  ReplayRig rig;
  rig.config.ingest.ingest.mapping.forgets = GENERATE(true, false);
  rig.play("u1", "a", kThenMs);
  rig.append(0, ReplayRig::json("play", "u1", "ahead", kThenMs + 500), kThenMs + 3 * kDayMs);
  rig.play("u1", "b", kThenMs + 1'000);
  rig.play("u1", "c", kThenMs + 2'000);
  rig.play("u1", "after", kThenMs + 2 * kDayMs);
  rig.config.until = std::to_string(kThenMs + kDayMs);
  const auto end = rig.run();
  REQUIRE(end.ok());
  // The one that is ahead lies between records of the range.
  CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u1", "a", kThenMs), play_of("u1", "ahead", kThenMs + 500),
                                                     play_of("u1", "b", kThenMs + 1'000),
                                                     play_of("u1", "c", kThenMs + 2'000)});
  CHECK(end->progress == JobProgress{4, 4});
}

TEST_CASE("replay: forgets of the range are written, for plays that the installation has already") {
  ReplayRig rig;
  rig.play("u1", "v", kThenMs);
  rig.forget("u1", "v", kThenMs + 2'000);
  REQUIRE(rig.run().ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{forget_of("u1", "v", kThenMs + 2'000)});
}

TEST_CASE("replay: a forget from a clock that was ahead takes no play after the moment at which it was logged") {
  ReplayRig rig;
  rig.append(0, ReplayRig::json("forget", "u1", "v", kThenMs + 300'000), kThenMs);  // Five minutes ahead.
  rig.play("u1", "v", kThenMs + 60'000);
  REQUIRE(rig.run().ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{forget_of("u1", "v", kThenMs - 1),
                                                     play_of("u1", "v", kThenMs + 60'000)});
}

TEST_CASE("replay: a play that arrives with a forget counts where both clocks were ahead, as it did when it was new") {
  ReplayRig rig;
  rig.append(0, ReplayRig::json("forget", "u1", "v", kThenMs + 300'000), kThenMs);
  rig.append(0, ReplayRig::json("play", "u1", "v", kThenMs + 300'001), kThenMs);
  REQUIRE(rig.run().ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{forget_of("u1", "v", kThenMs - 1), play_of("u1", "v", kThenMs)});
}

TEST_CASE("replay: what no filter could take is counted and left out") {
  ReplayRig rig;
  rig.play("u1", "old", kReplayNowMs - 400 * kDayMs);
  rig.play("u1", "new", kThenMs);
  rig.append(0, ReplayRig::json("serve", "u1", "shown", kThenMs), kThenMs + 1);
  rig.play("u1", "new", kThenMs);
  const auto end = rig.run();
  REQUIRE(end.ok());
  CHECK(rig.written() == std::multiset<WrittenEvent>{play_of("u1", "new", kThenMs)});
  CHECK(ReplayRig::count(*end, "left_out", "expired") == 1);
  CHECK(ReplayRig::count(*end, "left_out", "serve") == 1);
  CHECK(ReplayRig::count(*end, "left_out", "repeat") == 1);
  CHECK(end->state == JobState::kDone);
}

TEST_CASE("replay: a refused record goes to the dead letters of replay, and makes the end one with differences") {
  ReplayRig rig;
  rig.play("u1", "v", kThenMs);
  const int64_t offset = rig.append(1, "no play", kThenMs);
  const auto end = rig.run();
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDoneDifferences);
  CHECK(ReplayRig::count(*end, "refused", "malformed_json") == 1);
  const auto& letters = rig.log.partition("plays-dead", PartitionId(0));
  REQUIRE(letters.size() == 1);
  const std::map<std::string, std::string> headers(letters[0].headers.begin(), letters[0].headers.end());
  CHECK(letters[0].value == "no play");
  CHECK(headers.at("bloomring.error.stage") == "replay");
  CHECK(headers.at("bloomring.error.topic") == "plays");
  CHECK(headers.at("bloomring.error.partition") == "1");
  CHECK(headers.at("bloomring.error.offset") == std::to_string(offset));
}

TEST_CASE("replay: killed at each of its durable steps, it resumes to the same end") {
  const std::string point =
      GENERATE(as<std::string>{}, "replay.range_fixed", "replay.scanned", "ingest.block_sent", "ingest.acknowledged",
               "ingest.committed", "job.begun", "job.before_save", "job.saved", "job.before_end", "job.ended");
  const int visit = GENERATE(1, 2, 7);
  ReplayRig rig;
  auto expected = different(fill(rig, 400));
  rig.forget("u3", "v3", kThenMs + 3'500);
  expected.erase(play_of("u3", "v3", kThenMs + 3'000));
  expected.insert(forget_of("u3", "v3", kThenMs + 3'500));
  rig.append(1, "no play", kThenMs);
  rig.rate = 2'000;
  // Before the first save nothing says where the range ends: it has one play more at the next start.
  const bool unsaved = visit == 1 && (point == "replay.range_fixed" || point == "job.before_save");
  const uint64_t records = unsaved ? 403 : 402;
  if (unsaved) expected.insert(play_of("late", "v0", kReplayNowMs - 5'000));
  int visits = 0, kills = 0;
  bool done = false;
  for (int starts = 0; starts < 10 && !done; ++starts) {
    set_fault_handler([&](std::string_view name) {
      if (name == point && ++visits == visit) throw Killed();
    });
    try {
      const auto end = rig.run();
      INFO(end.status().message());
      REQUIRE(end.ok());
      CHECK(end->state == JobState::kDoneDifferences);
      CHECK(end->progress == JobProgress{records, records});
      done = true;
    } catch (const Killed&) {
      ++kills;
    }
    set_fault_handler({});
    rig.play("late", "v" + std::to_string(starts), kReplayNowMs - 5'000);  // Behind the end of the first start.
  }
  CHECK(done);
  if (visit == 1) CHECK(kills == 1);
  CHECK(different(rig.written()) == expected);
  CHECK(rig.log.partition("plays-dead", PartitionId(0)).size() >= 1);
}

TEST_CASE("replay: stopped and started again and again, it writes nothing twice that was acknowledged") {
  ReplayRig rig;
  const auto plays = fill(rig, 600);
  rig.rate = 1'000;
  Result<JobRecord> end = retry("not started");
  int stops = 0;
  do {
    int turns = 0;
    end = rig.run([&] { return ++turns > 150; });
    REQUIRE(end.ok());
    stops += end->state == JobState::kStopped;
    REQUIRE(stops < 100);
  } while (end->state == JobState::kStopped);
  CHECK(stops > 1);
  CHECK(rig.written() == plays);
  CHECK(ReplayRig::count(*end, "written") == 600);
}

TEST_CASE("replay: a log that no longer has what is left says what is gone, and from where it goes on") {
  ReplayRig rig;
  fill(rig, 200);
  rig.rate = 300;
  int turns = 0;
  const auto stopped = rig.run([&] { return ++turns > 100; });
  REQUIRE(stopped.ok());
  REQUIRE(stopped->state == JobState::kStopped);
  const auto parts = decode_parts(stopped->position);
  REQUIRE(parts.ok());
  CAPTURE(stopped->position);
  REQUIRE(parts->front().next < Offset(90));
  SECTION("retention") {
    rig.log.start("plays", PartitionId(0)) = Offset(90);
    const auto end = rig.run();
    CHECK(end.code() == Code::kFatal);
    const std::string lost = std::to_string(90 - parts->front().next.value);
    CHECK(end.status().message().starts_with("plays[0]: " + lost + " records from offset " +
                                             std::to_string(parts->front().next.value) + " on"));
  }
  SECTION("what is done already may be gone") {
    rig.log.start("plays", PartitionId(0)) = parts->front().next;
    rig.rate = 100'000;
    CHECK(rig.run().ok());
    CHECK(rig.written().size() == 200);
  }
  SECTION("another topic of the same name") {
    rig.log.cut("plays", PartitionId(0), Offset(95));
    const auto end = rig.run();
    CHECK(end.code() == Code::kFatal);
    CHECK(end.status().message().find("the topic was made again") != std::string::npos);
  }
}

TEST_CASE("replay: wrong offsets, partitions and topics are refused before anything is written") {
  ReplayRig rig;
  fill(rig, 20);
  rig.log.start("plays", PartitionId(0)) = Offset(5);
  const auto refused = [&](const std::string& why) {
    const auto end = rig.run();
    INFO(end.status().message());
    CHECK(end.code() == Code::kInvalid);
    CHECK(end.status().message().find(why) != std::string::npos);
    CHECK(rig.written().empty());
    CHECK(rig.topic.records.empty());
  };
  SECTION("gone") {
    rig.config.from = "0=4";
    refused("offset 4 of plays[0] is gone, by retention: the log has offsets from 5 to 10");
  }
  SECTION("not there yet") {
    rig.config.until = "0=11";
    refused("offset 11 of plays[0] is not there yet");
  }
  SECTION("no such partition") {
    rig.config.from = "0=5,7=1";
    refused("plays has no partition 7");
  }
  SECTION("no such topic") {
    rig.config.topics = {"played"};
    refused("topic played does not exist");
  }
  SECTION("brokers away") {
    rig.source.away = true;
    CHECK(rig.run().code() == Code::kRetry);
  }
}

TEST_CASE("replay: event blocks of an installation with other partitions become the same events here") {
  ReplayRig rig;
  rig.config.topics = {"old-events"};
  rig.config.ingest.form = IngestTaskConfig::Form::kBlocks;
  rig.config.ingest.block_partitions = 5;
  std::multiset<WrittenEvent> expected;
  EventBlockBuilder builders[5];
  const auto add = [&](const std::string& user, const Event& event) {
    const UserKey key("", user);
    const UserRef ref(key.bytes());
    builders[partition_of(ref.shard(), 5).value].add(ref, event);
  };
  for (int i = 0; i < 300; ++i) {
    const std::string user = "u" + std::to_string(i % 50), item = "v" + std::to_string(i);
    add(user, {EventKind::kPlay, item_hash(item), kThenMs + i});
    add(user, {EventKind::kServe, item_hash(item), kThenMs + i});
    if (i != 7) expected.insert(play_of(user, item, kThenMs + i));
  }
  add("u7", {EventKind::kForget, item_hash("v7"), kThenMs + 500});
  expected.insert(forget_of("u7", "v7", kThenMs + 500));
  for (int p = 0; p < 5; ++p)
    rig.log.append("old-events", PartitionId(p), builders[p].finish(PartitionId(p), 5));
  rig.log.append("old-events", PartitionId(2), "no block");

  SECTION("all of them") {
    const auto end = rig.run();
    INFO(end.status().message());
    REQUIRE(end.ok());
    CHECK(rig.written() == expected);
    CHECK(end->state == JobState::kDoneDifferences);
    CHECK(ReplayRig::count(*end, "left_out", "serve") == 300);
    CHECK(ReplayRig::count(*end, "left_out", "forgotten") == 1);
    CHECK(end->unit == "blocks");
    CHECK(end->rate_unit == "events");
  }
  SECTION("the rate counts events, not blocks") {
    rig.rate = 100;
    const int64_t began_ms = rig.clock.now_ms();
    REQUIRE(rig.run().ok());
    CHECK(rig.clock.now_ms() - began_ms > 4'000);  // 601 events, the last 120 in one block.
  }
  SECTION("another number of partitions at a later start is refused, and none of its blocks") {
    rig.rate = 100;
    int turns = 0;
    REQUIRE(rig.run([&] { return ++turns > 200; })->state == JobState::kStopped);
    rig.config.ingest.block_partitions = 10;
    const auto end = rig.run();
    CHECK(end.code() == Code::kInvalid);
    CHECK(end.status().message().find("partitions was '5', it is '10' now") != std::string::npos);
    CHECK(rig.log.end("plays-dead", PartitionId(0)).value <= 1);
  }
  SECTION("a number of partitions that is not that of its installation is refused") {
    rig.config.ingest.block_partitions = 10;
    const auto end = rig.run();
    CHECK(end.code() == Code::kInvalid);
    CHECK(end.status().message().find("--source-config") != std::string::npos);
  }
}

TEST_CASE("replay: a plan tells topics, records and forgets, and touches nothing") {
  ReplayRig rig;
  fill(rig, 100);
  rig.config.from = "0=10,1=20";
  const auto job = rig.make();
  const auto plan = job->plan();
  REQUIRE(plan.ok());
  CHECK(plan->total == 40 + 30);
  CHECK(plan->facts.front().name == "topic plays");
  CHECK(plan->facts.front().text == "70 records of 2 partitions");
  CHECK(plan->warnings.empty());
  CHECK(rig.written().empty());
  rig.config.from = std::to_string(kReplayNowMs);
  CHECK(rig.make()->plan()->warnings == std::vector<std::string>{"topic plays has nothing in the range"});
}

TEST_CASE("replay: a changed mapping is another job, because it makes other plays of the records") {
  ReplayRig rig;
  fill(rig, 100);
  rig.rate = 200;
  int turns = 0;
  REQUIRE(rig.run([&] { return ++turns > 100; })->state == JobState::kStopped);
  rig.config.ingest.ingest.mapping.item = "video";
  const auto end = rig.run();
  CHECK(end.code() == Code::kInvalid);
  CHECK(end.status().message().find("mapping was") != std::string::npos);
}

TEST_CASE("replay: a topic that is named twice, or has no name, is refused") {
  ReplayRig rig;
  for (const std::vector<std::string>& topics : {std::vector<std::string>{"plays", "other", "plays"}, {"plays", ""}}) {
    rig.config.topics = topics;
    const auto made = ReplayJob::create(rig.config, rig.source, std::make_unique<simulation::SimSink>(rig.log),
                                        rig.calendar, rig.clock);
    CHECK(made.code() == Code::kInvalid);
    CHECK_THAT(made.status().message(), Catch::Contains("--topic plays"));
  }
}
