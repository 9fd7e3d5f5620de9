#include "pipeline/jobs/letters/letter_replay.h"

#include "tests/pipeline/jobs/letters/memory_letters.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

const std::string kGood = R"({"user":"u1","item":"v1","time":1794999999999})";
const std::string kBad = R"({"user":"u1","time":1794999999999})";

// A start of the job on the logs, with the mapping mended.
struct Start {
  explicit Start(MemoryLetters& logs, LetterReplayConfig config = {})
      : letters(logs), job(with_rules(std::move(config)), logs, clock) {}
  static LetterReplayConfig with_rules(LetterReplayConfig config) {
    config.dead_topic = "plays-dead";
    config.rules.plays = {"plays"};
    if (config.rules.mapping.record_bytes_max < 2'000'000) config.rules.mapping.record_bytes_max = 2'000'000;
    return config;
  }

  void begin(const JobStart& start = {}) {
    const Status begun = job.begin(start);
    INFO(begun.to_string());
    REQUIRE(begun.ok());
  }
  JobStep step(uint64_t units = 1000) {
    const auto step = job.step(units, kLettersNowMs);
    INFO(step.status().to_string());
    REQUIRE(step.ok());
    return *step;
  }
  void run_to_the_end() {
    for (int i = 0; i < 1000; ++i) {
      if (step().done) return;
      letters.acknowledge_all();
    }
    FAIL("the job does not end");
  }
  uint64_t count(const std::string& name, const std::string& reason = "") const {
    for (const JobCount& one : job.counts()) {
      if (one.name == name && one.reason == reason) return one.value;
    }
    return 0;
  }

  MemoryLetters& letters;
  ManualClock clock{kLettersNowMs};
  LetterReplay job;
};

std::string header(const OutRecord& record, const std::string& name) {
  for (const auto& [other, value] : record.headers) {
    if (other == name) return value;
  }
  return "none";
}

}  // namespace

TEST_CASE("letter replay: letters that are plays now are put back to their topic and partition, as they were") {
  MemoryLetters letters;
  letters.refuse(kGood, Refusal::kMissingField, 7, {{"trace", "1"}});
  letters.refuse(kBad);
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  REQUIRE(letters.written.size() == 1);
  const OutRecord& record = letters.written[0];
  CHECK(record.topic == "plays");
  CHECK(record.partition == PartitionId(2));
  CHECK(record.key == "key");
  CHECK(record.value == kGood);
  CHECK(record.time_ms == kLettersNowMs - 60'000);
  CHECK(record.headers == RecordHeaders{{"trace", "1"},
                                        {"bloomring.replay.count", "1"},
                                        {"bloomring.replay.from", "plays-dead[0]@0"}});
  CHECK(start.count("put_back", "missing_field") == 1);
  CHECK(start.count("refused_again", "missing_field") == 1);
  CHECK(start.job.differences());
  CHECK(start.job.progress() == JobProgress{2, 2});
}

TEST_CASE("letter replay: without anything left behind there are no differences") {
  MemoryLetters letters;
  letters.refuse(kGood);
  letters.add_foreign();
  letters.refuse(kGood, Refusal::kBadBlock, 0, {}, "window");
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  CHECK_FALSE(start.job.differences());
  CHECK(start.count("foreign") == 1);
  CHECK(start.count("no_play") == 1);
  CHECK(letters.written.size() == 1);
}

TEST_CASE("letter replay: a topic that keeps records shorter than the play's age gets it with the time of now") {
  MemoryLetters letters;
  letters.targets["plays"].kept_ms = 100'000;
  letters.refuse(kGood);
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  CHECK_FALSE(letters.written.at(0).time_ms);
  CHECK(start.count("new_time") == 1);
}

TEST_CASE("letter replay: the position passes a letter when its record is acknowledged, whatever comes behind it") {
  MemoryLetters letters;
  for (int i = 0; i < 4; ++i) letters.refuse(i == 2 ? kBad : kGood);
  Start start(letters);
  start.begin();
  CHECK(start.step().units == 4);
  CHECK(letters.written.size() == 3);
  CHECK(start.job.progress() == JobProgress{0, 4});
  std::swap(letters.unacknowledged[0], letters.unacknowledged[1]);  // The second one comes back first.
  letters.acknowledge_first();
  start.step();
  CHECK(start.job.progress() == JobProgress{0, 4});
  letters.acknowledge_first();
  CHECK_FALSE(start.step().done);
  CHECK(start.job.progress() == JobProgress{3, 4});
  letters.acknowledge_first();
  CHECK(start.step().done);
  CHECK(start.job.progress() == JobProgress{4, 4});
}

TEST_CASE("letter replay: killed at any place, another start goes on and puts every letter back, few of them twice") {
  const size_t acknowledged = GENERATE(0, 1, 4, 9, 10);
  MemoryLetters letters;
  for (int i = 0; i < 10; ++i)
    letters.refuse(R"({"user":"u)" + std::to_string(i) + R"(","item":"v1","time":1794999999999})");
  JobStart saved;
  {
    Start first(letters);
    first.begin();
    first.step();
    for (size_t i = 0; i < acknowledged; ++i) letters.acknowledge_first();
    (void)first.job.settle(kLettersNowMs);
    saved = {first.job.position(), first.job.counts()};
  }
  letters.unacknowledged.clear();  // Killed: nobody hears of the others.
  letters.refuse(kGood);           // Came after the first start.
  Start second(letters);
  second.begin(saved);
  second.run_to_the_end();
  std::map<std::string, int> times;
  for (const OutRecord& record : letters.written) ++times[record.value];
  CHECK(times.size() == 10);
  CHECK(letters.written.size() == 10 + 10 - acknowledged);
  CHECK(second.count("put_back", "missing_field") == 10);
  CHECK(second.job.progress() == JobProgress{10, 10});
}

TEST_CASE("letter replay: times before now are those of the first start") {
  MemoryLetters letters;
  letters.refuse(kGood);
  LetterReplayConfig config;
  config.selection.until_ms = kLettersNowMs;  // The letter has this time, so it is not before it.
  JobStart saved;
  {
    Start first(letters, config);
    first.begin();
    saved.position = first.job.position();
  }
  config.selection.until_ms = kLettersNowMs + 1;  // The same words, typed later.
  Start second(letters, config);
  second.begin(saved);
  second.run_to_the_end();
  CHECK(letters.written.empty());
}

TEST_CASE("letter replay: it takes no more letters than its rate allows, and with none it looks after what it sent") {
  MemoryLetters letters;
  for (int i = 0; i < 5; ++i) letters.refuse(kGood);
  Start start(letters);
  start.begin();
  CHECK(start.step(2).units == 2);
  CHECK(start.step(0).units == 0);
  CHECK(letters.written.size() == 2);
  letters.acknowledge_all();
  start.step(0);
  CHECK(start.job.progress().done == 2);
}

TEST_CASE("letter replay: letters of other reasons cost nothing and are passed") {
  MemoryLetters letters;
  letters.refuse(kGood, Refusal::kEmptyId);
  letters.refuse(kGood, Refusal::kUnknownEvent);
  LetterReplayConfig config;
  config.selection.reasons = {"unknown_event"};
  Start start(letters, config);
  start.begin();
  CHECK(start.step(1).units == 1);
  start.run_to_the_end();
  CHECK(letters.written.size() == 1);
  CHECK(start.count("put_back", "unknown_event") == 1);
  CHECK(start.job.progress() == JobProgress{2, 2});
}

TEST_CASE("letter replay: what was cut is read whole from its topic, with its headers and its time") {
  MemoryLetters letters;
  const std::string whole = kGood + std::string(1'000'000, ' ');
  letters.refuse(whole, Refusal::kTooLarge, 77);
  letters.originals[77] = {kLettersNowMs - 5, "whole key", whole, {{"h", "1"}}};
  letters.refuse(whole, Refusal::kTooLarge, 78);
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  REQUIRE(letters.written.size() == 1);
  CHECK(letters.written[0].value == whole);
  CHECK(letters.written[0].key == "whole key");
  CHECK(letters.written[0].headers[0] == std::pair<std::string, std::string>("h", "1"));
  CHECK(letters.written[0].time_ms == kLettersNowMs - 5);
  CHECK(start.count("read_whole", "too_large") == 1);
  CHECK(start.count("original_gone", "too_large") == 1);
  CHECK(start.job.differences());
}

TEST_CASE("letter replay: another record in the place of the original, whose topic was made again, is not put back") {
  MemoryLetters letters;
  const std::string whole = kGood + std::string(1'000'000, ' ');
  for (int offset = 77; offset < 79; ++offset) letters.refuse(whole, Refusal::kTooLarge, offset);
  letters.originals[77] = {0, "key", kGood, {}};
  letters.originals[78] = {0, "key", kGood + std::string(1'000'001, ' '), {}};
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  CHECK(letters.written.empty());
  CHECK(start.count("original_gone", "too_large") == 2);
  CHECK(start.job.differences());
}

TEST_CASE("letter replay: while an original cannot be had, nothing behind it is taken, and then it goes on") {
  MemoryLetters letters;
  const std::string whole = kGood + std::string(1'000'000, ' ');
  letters.refuse(whole, Refusal::kTooLarge, 77);
  letters.originals[77] = {0, "", whole, {}};
  letters.refuse(kGood);
  letters.originals_away = true;
  Start start(letters);
  start.begin();
  CHECK(start.job.step(10, kLettersNowMs).code() == Code::kRetry);
  CHECK(letters.written.empty());
  letters.originals_away = false;
  start.run_to_the_end();
  CHECK(letters.written.size() == 2);
  CHECK(start.count("put_back", "too_large") == 1);
}

TEST_CASE("letter replay: what was too large is judged again when it is whole") {
  MemoryLetters letters;
  const std::string whole = "{" + std::string(1'000'000, ' ');
  letters.refuse(whole, Refusal::kTooLarge, 77);
  letters.originals[77] = {0, "", whole, {}};
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  CHECK(letters.written.empty());
  CHECK(start.count("refused_again", "malformed_json") == 1);
}

TEST_CASE("letter replay: a letter that fails again carries its count, and stays after the third time") {
  MemoryLetters letters;
  letters.refuse(kGood);
  for (int round = 1; round <= 4; ++round) {  // Ingest still has the old settings.
    CAPTURE(round);
    Start start(letters);
    start.begin();
    start.run_to_the_end();
    CHECK(start.count("superseded", "missing_field") == static_cast<uint64_t>(round) - 1);
    if (round == 4) {
      CHECK(start.count("too_often", "missing_field") == 1);
      CHECK(start.job.differences());
      break;
    }
    CHECK(header(letters.written.back(), "bloomring.replay.count") == std::to_string(round));
    letters.refuse(kGood, Refusal::kMissingField, round, letters.written.back().headers);
  }
  CHECK(letters.written.size() == 3);
}

TEST_CASE("letter replay: a full queue holds letters back, and loses and repeats none") {
  MemoryLetters letters;
  for (int i = 0; i < 50; ++i) letters.refuse(kGood, Refusal::kMissingField, i);
  letters.room = 3;
  Start start(letters);
  start.begin();
  start.run_to_the_end();
  CHECK(letters.written.size() == 50);
  CHECK(start.count("put_back", "missing_field") == 50);
}

TEST_CASE("letter replay: a record that its topic refuses is counted, and the others are put back") {
  MemoryLetters letters;
  letters.refuse(kGood);
  letters.refuse(kGood);
  Start start(letters);
  start.begin();
  start.step();
  const kafka::Written told = std::move(letters.unacknowledged.front());
  letters.unacknowledged.pop_front();
  told(bad_record("too large"));
  start.run_to_the_end();
  CHECK(start.count("not_written", "missing_field") == 1);
  CHECK(start.count("put_back", "missing_field") == 1);
  CHECK(start.job.differences());
}

TEST_CASE("letter replay: a topic that takes nothing fails the job, which another start goes on with") {
  MemoryLetters letters;
  letters.refuse(kGood);
  Start start(letters);
  start.begin();
  start.step();
  letters.unacknowledged.front()(fatal("not authorised"));
  CHECK(start.job.step(10, kLettersNowMs).code() == Code::kFatal);
  CHECK(start.job.progress().done == 0);
}

TEST_CASE("letter replay: to another topic, letters of any topic of plays go, to a partition that it has") {
  MemoryLetters letters;
  letters.targets["elsewhere"] = {1, -1, -1};
  letters.refuse(kGood);
  LetterReplayConfig config;
  config.rules.to = "elsewhere";
  Start start(letters, config);
  start.begin();
  start.run_to_the_end();
  CHECK(letters.written.at(0).topic == "elsewhere");
  CHECK(letters.written.at(0).partition == PartitionId(0));
}

TEST_CASE("letter replay: a target that does not exist is kInvalid and nothing is passed") {
  MemoryLetters letters;
  letters.targets.clear();
  letters.refuse(kGood);
  Start start(letters);
  start.begin();
  CHECK(start.job.step(10, kLettersNowMs).code() == Code::kInvalid);
  CHECK(start.job.progress().done == 0);
}

TEST_CASE("letter replay: letters that retention removes meanwhile are counted as lost") {
  MemoryLetters letters;
  for (int i = 0; i < 5; ++i) letters.refuse(kGood);
  JobStart saved;
  {
    Start first(letters);
    first.begin();
    saved.position = first.job.position();
  }
  letters.log_start = 2;
  Start second(letters);
  second.begin(saved);
  second.run_to_the_end();
  CHECK(second.count("lost") == 2);
  CHECK(letters.written.size() == 3);
  CHECK(second.job.differences());
}

TEST_CASE("letter replay: the plan says of each reason what would become of its letters, and writes nothing") {
  MemoryLetters letters;
  const std::string whole = kGood + std::string(1'000'000, ' ');
  letters.refuse(kGood);
  letters.refuse(kGood);
  letters.refuse(kBad);
  letters.refuse(whole, Refusal::kTooLarge, 77);
  letters.originals[77] = {0, "", whole, {}};
  letters.refuse(whole, Refusal::kTooLarge, 78);
  letters.refuse(kGood, Refusal::kEmptyId, 0, {{"bloomring.replay.count", "3"}});
  letters.add_foreign();
  Start start(letters);
  const auto plan = start.job.plan();
  REQUIRE(plan.ok());
  CHECK(plan->total == 7);
  std::map<std::string, std::string> facts;
  for (const JobPlan::Fact& fact : plan->facts) facts[fact.name] = fact.text;
  CHECK(facts.at("selected") == "6 letters of plays-dead");
  CHECK(facts.at("missing_field") ==
        "3 letters: 2 to plays; 1 refused again with the settings of now (1 missing_field)");
  CHECK(facts.at("too_large") ==
        "2 letters: 1 cut, to be read whole from their topic and judged then, for plays; 1 cut, and their topic no "
        "longer has the whole record");
  CHECK(facts.at("empty_id") == "1 letter: 1 put back too often already (--attempts)");
  CHECK(facts.at("foreign") == "1 records of other programs");
  CHECK(plan->touches == std::vector<std::string>{"writes up to 3 records to topic plays"});
  CHECK(plan->warnings.size() == 2);
  CHECK(letters.written.empty());
  CHECK(letters.originals_asked == 0);
}
