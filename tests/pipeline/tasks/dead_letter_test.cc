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
                                                                 {"bloomring.error.time", "1649314823123"}});
  CHECK(letter.headers.size() == 7);
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
