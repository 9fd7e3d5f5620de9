#include "cli/dlq/letter_json.h"

#include <catch2/catch.hpp>

#include "cli/calls/json_text.h"
#include "cli/dlq/safe_text.h"

using namespace bloomring;
using namespace bloomring::cli;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;

DeadRecord dead(const std::string& value, const std::string& reason = "missing_field") {
  Letter letter;
  letter.reason = reason;
  letter.message = "events.item 'video': field missing";
  letter.stage = "ingest";
  letter.topic = "plays";
  letter.partition = PartitionId(3);
  letter.offset = Offset(4711);
  letter.log_time_ms = kNowMs - 60'000;
  letter.key = "k";
  letter.value = value;
  const size_t bytes = value.size();
  return {.partition = PartitionId(0), .offset = Offset(5), .log_time_ms = kNowMs, .bytes = bytes, .letter = letter};
}

nlohmann::ordered_json shown(const DeadRecord& record) {
  PlayParser parser{PlayMapping{}};
  return record_json(record, parser, kNowMs);
}

}  // namespace

TEST_CASE("letter json: a letter says why, whence, and which play it would be now") {
  const auto json = shown(dead(R"({"user":"u1","item":"v1","time":1794999999999})"));
  CHECK(json["at"] == "0:5");
  CHECK(json["reason"] == "missing_field");
  CHECK(json["source"].dump() == R"({"topic":"plays","partition":3,"offset":4711,"time_ms":1794999940000})");
  CHECK(json["cut"] == false);
  CHECK(json["now"] == "accepted");
  CHECK(json["play"].dump() ==
        R"({"event":"play","user":"u1","item":"v1","scene":"","time_ms":1794999999999})");
  CHECK(json["value"] == R"({"user":"u1","item":"v1","time":1794999999999})");
}

TEST_CASE("letter json: what ingest refuses now is told with the reason of now") {
  const auto json = shown(dead("{"));
  CHECK(json["now"] == "refused");
  CHECK(json["now_reason"] == "malformed_json");
  CHECK_FALSE(json.contains("play"));
}

TEST_CASE("letter json: of a value that was cut, it says so, and where the whole one lies") {
  DeadRecord record = dead(std::string(900'000, 'x'));
  record.letter->value_bytes = 5'000'000;
  const auto json = shown(record);
  CHECK(json["cut"] == true);
  CHECK(json["value_bytes"] == 5'000'000);
  CHECK(json["value_shown_bytes"] == kShownBytesMax);
  CHECK(json["now"] == "not known: the value is cut");
  CHECK(json["source"]["offset"] == 4711);
}

TEST_CASE("letter json: neither form lets a control character through") {
  DeadRecord record = dead("\x1b[2J\x7f\xc2\x9b\n");
  record.letter->key = "\xff\x1b";
  record.letter->message = "\x1b]0;x\x07";
  record.letter->topic = "\x1b[1m";
  record.letter->headers = {{"\x1b", "\xe2\x80\xae"}};
  const auto json = shown(record);
  for (const std::string& text : {json_line(json), json_text(safe_json(json))}) {
    INFO(text);
    for (const char c : text) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
  }
  CHECK(json["key_escaped"] == "\\xff\\x1b");
  CHECK(nlohmann::ordered_json::parse(json_line(json))["value"] == "\x1b[2J\x7f\xc2\x9b\n");
}

TEST_CASE("letter json: a foreign record is called so, without a guess") {
  DeadRecord foreign{.partition = PartitionId(1), .offset = Offset(2)};
  foreign.log_time_ms = 3;
  foreign.bytes = 4;
  const auto json = shown(foreign);
  CHECK(json.dump() == R"({"at":"1:2","written_ms":3,"foreign":true,"bytes":4})");
}

TEST_CASE("letter json: the table is a row for each reason, in both forms") {
  LetterTable table;
  table.add(dead("{}"));
  table.add(dead("{}"));
  table.add(dead("", "malformed_json"));
  const auto json = table_json(table);
  CHECK(json["letters"] == 3);
  CHECK(json["reasons"][1].dump() ==
        R"({"reason":"missing_field","letters":2,"bytes":4,"first_ms":1795000000000,"last_ms":1795000000000,"cut":0,)"
        R"("replayed":0,"sources":[{"topic":"plays","partitions":1,"letters":2}]})");
  const std::string text = json_text(table_rows(table));
  CHECK(text.find("plays (1 partition)") != std::string::npos);
  CHECK(text.find("missing_field   2        4") != std::string::npos);
}
