#include "pipeline/letters/letter_judge.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;

LetterRules rules(const std::string& to = "") {
  LetterRules rules;
  rules.mapping.record_bytes_max = 2'000'000;
  rules.mapping.kinds = {{"hide", std::nullopt}};
  rules.plays = {"plays"};
  rules.to = to;
  return rules;
}

Letter letter(const std::string& value) {
  Letter letter;
  letter.reason = "missing_field";
  letter.stage = "ingest";
  letter.topic = "plays";
  letter.value = value;
  return letter;
}

const std::string kGood = R"({"user":"u1","item":"v1","time":1794999999999,"event":"play"})";

Fate fate_of(const Letter& letter, const std::string& to = "") {
  return LetterJudge(rules(to)).judge(letter, kNowMs).fate;
}

}  // namespace

TEST_CASE("letter judge: a play that the parser takes now is put back") {
  CHECK(fate_of(letter(kGood)) == Fate::kPutBack);
}

TEST_CASE("letter judge: a play that would be refused again is not, whatever the reason is now") {
  const Letter without_item = letter(R"({"user":"u1","time":1,"event":"play"})");
  const LetterJudgement judgement = LetterJudge(rules()).judge(without_item, kNowMs);
  CHECK(judgement.fate == Fate::kRefused);
  CHECK(judgement.refusal == Refusal::kMissingField);
  CHECK(judgement.detail == "events.item 'item': field missing");
  CHECK(fate_of(letter("")) == Fate::kRefused);
}

TEST_CASE("letter judge: a record that the configuration ignores now is not put back") {
  CHECK(fate_of(letter(R"({"user":"u1","item":"v1","time":1794999999999,"event":"hide"})")) == Fate::kIgnored);
}

TEST_CASE("letter judge: a letter of another stage is no play") {
  Letter block = letter(kGood);
  block.stage = "replay";
  CHECK(fate_of(block) == Fate::kPutBack);
  block.stage = "window";
  CHECK(fate_of(block) == Fate::kNoPlay);
  CHECK(fate_of(block, "elsewhere") == Fate::kNoPlay);
}

TEST_CASE("letter judge: only topics of plays are written to, unless another one is given") {
  Letter other = letter(kGood);
  other.topic = "user-events";
  CHECK(fate_of(other) == Fate::kNoTopic);
  CHECK(fate_of(other, "elsewhere") == Fate::kPutBack);
  CHECK(LetterJudge(rules("elsewhere")).target(other) == "elsewhere");
  CHECK(LetterJudge(rules()).target(letter(kGood)) == "plays");
}

TEST_CASE("letter judge: a letter is put back three times and no more") {
  Letter again = letter(kGood);
  again.replays = 2;
  CHECK(fate_of(again) == Fate::kPutBack);
  again.replays = 3;
  CHECK(fate_of(again) == Fate::kTooOften);
}

TEST_CASE("letter judge: a value that was cut is read whole where its length is accepted now, and refused otherwise") {
  Letter cut = letter(std::string(900'000, 'x'));
  cut.value_bytes = 2'000'000;
  CHECK(fate_of(cut) == Fate::kReadWhole);
  cut.value_bytes = 2'000'001;
  const LetterJudgement judgement = LetterJudge(rules()).judge(cut, kNowMs);
  CHECK(judgement.fate == Fate::kRefused);
  CHECK(judgement.refusal == Refusal::kTooLarge);
}

TEST_CASE("letter judge: a key or headers that were cut are read whole where the value is accepted") {
  Letter cut = letter(kGood);
  cut.key_bytes = 200'000;
  CHECK(fate_of(cut) == Fate::kReadWhole);
  cut.value = "{";
  CHECK(fate_of(cut) == Fate::kRefused);
  Letter headers = letter(kGood);
  headers.headers_bytes = 100'000;
  CHECK(fate_of(headers) == Fate::kReadWhole);
}

TEST_CASE("letter judge: a record keeps its time while half of its topic's retention is left, and else is of now") {
  constexpr int64_t kDayMs = 86'400'000;
  CHECK(time_to_write(kNowMs - kDayMs, kNowMs, 2 * kDayMs, -1) == kNowMs - kDayMs);
  CHECK_FALSE(time_to_write(kNowMs - kDayMs - 1, kNowMs, 2 * kDayMs, -1));
  CHECK(time_to_write(kNowMs - 1000 * kDayMs, kNowMs, -1, -1) == kNowMs - 1000 * kDayMs);
  CHECK_FALSE(time_to_write(kNowMs - kDayMs - 1, kNowMs, -1, 2 * kDayMs));
  CHECK_FALSE(time_to_write(kNowMs + 1, kNowMs, -1, -1));
  CHECK_FALSE(time_to_write(-1, kNowMs, -1, -1));
  CHECK_FALSE(time_to_write(kNowMs, kNowMs, std::nullopt, -1));
  CHECK_FALSE(time_to_write(kNowMs, kNowMs, -1, std::nullopt));
}

TEST_CASE("letter judge: a record that is put back has its headers, and one count of replays") {
  const RecordHeaders headers = {{"trace", "1"}, {"bloomring.replay.count", "1"}, {"bloomring.replay.from", "x"}};
  const OutRecord out = put_back_record("plays", PartitionId(3), "key", "value", headers, 2, "plays-dead[0]@4711");
  CHECK(out.topic == "plays");
  CHECK(out.partition == PartitionId(3));
  CHECK(out.key == "key");
  CHECK(out.value == "value");
  CHECK(out.headers == RecordHeaders{{"trace", "1"},
                                     {"bloomring.replay.count", "2"},
                                     {"bloomring.replay.from", "plays-dead[0]@4711"}});
}
