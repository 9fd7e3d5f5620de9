#include "pipeline/letters/letter.h"

#include <catch2/catch.hpp>
#include <limits>

#include "pipeline/tasks/dead_letter.h"

using namespace bloomring;

namespace {

OutRecord written(const std::string& key, const std::string& value, const RecordHeaders& headers = {}) {
  const LogRecord record{Offset(4711), 1'649'314'823'000, key, value};
  return dead_letter("plays-dead", {"ingest", "plays", PartitionId(3)}, record, Refusal::kMissingField,
                     "events.item 'item': field missing", 1'649'314'823'123, headers);
}

std::optional<Letter> read(const OutRecord& out) { return read_letter(out.key, out.value, out.headers); }

}  // namespace

TEST_CASE("letter: what its writer wrote is read again, with the headers of the refused record") {
  const RecordHeaders headers = {{"trace", std::string("\0\xff", 2)}, {"trace", "again"}};
  const auto letter = read(written("key", "value", headers));
  REQUIRE(letter);
  CHECK(letter->reason == "missing_field");
  CHECK(letter->message == "events.item 'item': field missing");
  CHECK(letter->stage == "ingest");
  CHECK(letter->topic == "plays");
  CHECK(letter->partition == PartitionId(3));
  CHECK(letter->offset == Offset(4711));
  CHECK(letter->log_time_ms == 1'649'314'823'000);
  CHECK(letter->refused_ms == 1'649'314'823'123);
  CHECK(letter->key == "key");
  CHECK(letter->value == "value");
  CHECK(letter->headers == headers);
  CHECK(letter->replays == 0);
  CHECK_FALSE(letter->cut());
}

TEST_CASE("letter: what was cut is told with its original length") {
  const auto value = read(written("key", std::string(2'000'000, 'v')));
  CHECK(value->cut());
  CHECK(value->whole_value_bytes() == 2'000'000);
  CHECK(value->value.size() < 1'000'000);
  CHECK(read(written(std::string(200'000, 'k'), "v"))->key_bytes == 200'000);
  CHECK(read(written("k", "v", {{"h", std::string(100'000, 'h')}}))->headers_bytes == 100'001);
}

TEST_CASE("letter: a record of another program is none, and neither is one that does not say where it came from") {
  CHECK_FALSE(read_letter("k", "v", {}));
  CHECK_FALSE(read_letter("k", "v", {{"__connect.errors.topic", "plays"}}));
  const OutRecord good = written("k", "v");
  for (const char* name : {"reason", "topic", "partition", "offset"}) {
    INFO(name);
    RecordHeaders headers = good.headers;
    std::erase_if(headers, [&](const auto& header) { return header.first == std::string("bloomring.error.") + name; });
    CHECK_FALSE(read_letter("k", "v", headers));
  }
  for (const char* number : {"-1", "4x", "", "99999999999999999999"}) {
    INFO(number);
    RecordHeaders headers = good.headers;
    headers[5].second = number;
    REQUIRE(headers[5].first == "bloomring.error.offset");
    CHECK_FALSE(read_letter("k", "v", headers));
  }
}

TEST_CASE("letter: one of an older version, which tells less, is read") {
  OutRecord old = written("k", "v");
  old.headers.pop_back();
  REQUIRE(old.headers.back().first == "bloomring.error.time");
  CHECK(read(old)->log_time_ms == -1);
}

TEST_CASE("letter: of a header that occurs twice the first one counts") {
  OutRecord out = written("k", "v");
  out.headers.emplace_back("bloomring.error.topic", "user-events");
  CHECK(read(out)->topic == "plays");
}

TEST_CASE("letter: it tells how often its record was put back; a count that is none counts as the most") {
  CHECK(read(written("k", "v", {{"bloomring.replay.count", "2"}}))->replays == 2);
  CHECK(read(written("k", "v", {{"bloomring.replay.count", "many"}}))->replays == std::numeric_limits<uint32_t>::max());
}

TEST_CASE("letter: reasons of the closed list keep their words, and all others are one") {
  CHECK(known_reason("missing_field") == "missing_field");
  CHECK(known_reason("forget_not_allowed") == "forget_not_allowed");
  CHECK(known_reason("none") == "other");
  CHECK(known_reason("a reason of next year") == "other");
}
