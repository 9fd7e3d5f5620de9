#include "pipeline/tasks/dead_letter.h"

#include <catch2/catch.hpp>
#include <map>

using namespace bloomring;

namespace {

std::map<std::string, std::string> headers_of(const OutRecord& record) {
  return {record.headers.begin(), record.headers.end()};
}

}  // namespace

TEST_CASE("dead letter: it has the original bytes, and in its headers why, from where and when") {
  const std::string value("{\"user\":\xff\0", 10);
  const LogRecord record{Offset(4711), 1'649'314'823'000, "key", value};
  const OutRecord letter = dead_letter("plays-dead", {"ingest", "plays", PartitionId(3)}, record, Refusal::kNotUtf8,
                                       "the record is not UTF-8", 1'649'314'823'123);
  CHECK(letter.topic == "plays-dead");
  CHECK(letter.partition == PartitionId(0));
  CHECK(letter.key == "key");
  CHECK(letter.value == value);
  CHECK(headers_of(letter) == std::map<std::string, std::string>{{"bloomring.error.reason", "not_utf8"},
                                                                 {"bloomring.error.message", "the record is not UTF-8"},
                                                                 {"bloomring.error.stage", "ingest"},
                                                                 {"bloomring.error.topic", "plays"},
                                                                 {"bloomring.error.partition", "3"},
                                                                 {"bloomring.error.offset", "4711"},
                                                                 {"bloomring.error.time", "1649314823123"},
                                                                 {"bloomring.error.log_time", "1649314823000"}});
  CHECK(letter.headers.size() == 8);
}

TEST_CASE("dead letter: the headers of the record follow ours, and none of them takes the place of ours") {
  const RecordHeaders headers = {{"trace", std::string("\x00\xff", 2)},
                                 {"bloomring.error.reason", "none"},
                                 {"trace", "again"},
                                 {"bloomring.replay.count", "2"}};
  const OutRecord letter =
      dead_letter("d", {"ingest", "p", PartitionId(0)}, {}, Refusal::kEmptyId, "why", 0, headers);
  REQUIRE(letter.headers.size() == 11);
  CHECK(letter.headers[0] == std::pair<std::string, std::string>("bloomring.error.reason", "empty_id"));
  CHECK(std::vector(letter.headers.begin() + 8, letter.headers.end()) ==
        RecordHeaders{headers[0], headers[2], headers[3]});
}

TEST_CASE("dead letter: of too many headers it keeps their length and the first count of replays") {
  RecordHeaders headers = {{"bloomring.replay.count", "2"},
                           {"bloomring.replay.count", "0"},
                           {"big", std::string(kDeadLetterHeadersBytesMax, 'h')}};
  const std::string bytes = std::to_string(kDeadLetterHeadersBytesMax + 3 + 2 * 23);
  SECTION("too many bytes") {
    const auto found =
        dead_letter("d", {"ingest", "p", PartitionId(0)}, {}, Refusal::kEmptyId, "why", 0, headers).headers;
    CHECK(std::vector(found.begin() + 8, found.end()) ==
          RecordHeaders{{"bloomring.error.headers_bytes", bytes}, {"bloomring.replay.count", "2"}});
  }
  SECTION("too many of them") {
    headers.pop_back();
    headers.resize(kDeadLetterHeadersMax + 1, {"h", ""});
    const auto found =
        dead_letter("d", {"ingest", "p", PartitionId(0)}, {}, Refusal::kEmptyId, "why", 0, headers).headers;
    REQUIRE(found.size() == 10);
    CHECK(found[9] == headers[0]);
  }
}

TEST_CASE("dead letter: its message has at most 512 bytes") {
  const OutRecord letter = dead_letter("plays-dead", {"merge", "user-batches", PartitionId(0)}, {}, Refusal::kBadBatch,
                                       std::string(2000, 'x'), 0);
  CHECK(headers_of(letter).at("bloomring.error.message") == std::string(kDeadLetterMessageBytesMax, 'x'));
}

TEST_CASE("dead letter: a message that is cut ends with a whole character") {
  const std::string before(kDeadLetterMessageBytesMax - 1, 'x');
  const OutRecord letter =
      dead_letter("d", {"ingest", "p", PartitionId(0)}, {}, Refusal::kBadBatch, before + "\xc3\xa9", 0);
  CHECK(headers_of(letter).at("bloomring.error.message") == before);
}
