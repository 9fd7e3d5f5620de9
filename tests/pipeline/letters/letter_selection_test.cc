#include "pipeline/letters/letter_selection.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/letters/dead_record.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("letter selection: without words it takes everything, foreign records too") {
  CHECK(selects({}, dead("empty_id", 5)));
  CHECK(selects({}, DeadRecord{.log_time_ms = 5}));
}

TEST_CASE("letter selection: by reasons, the place of the record, and the time from since to before until") {
  const LetterSelection reasons{.reasons = {"empty_id", "not_utf8"}};
  CHECK(selects(reasons, dead("empty_id", 5)));
  CHECK(selects(reasons, dead("not_utf8", 5)));
  CHECK_FALSE(selects(reasons, dead("too_large", 5)));
  CHECK_FALSE(selects(reasons, DeadRecord{.log_time_ms = 5}));
  const LetterSelection place{.topic = "plays", .partition = 3};
  CHECK(selects(place, dead("empty_id", 5, "plays", 3)));
  CHECK_FALSE(selects(place, dead("empty_id", 5, "plays", 2)));
  CHECK_FALSE(selects(place, dead("empty_id", 5, "others", 3)));
  const LetterSelection times{.since_ms = 5, .until_ms = 7};
  CHECK_FALSE(selects(times, dead("empty_id", 4)));
  CHECK(selects(times, dead("empty_id", 5)));
  CHECK(selects(times, dead("empty_id", 6)));
  CHECK_FALSE(selects(times, dead("empty_id", 7)));
  CHECK_FALSE(selects(times, DeadRecord{.log_time_ms = 7}));
}

TEST_CASE("letter selection: a time is RFC 3339, Unix milliseconds, or before now") {
  const int64_t now_ms = 1'795'000'000'000;
  CHECK(*parse_when("--since", "1649314823123", now_ms) == 1'649'314'823'123);
  CHECK(*parse_when("--since", "2022-04-07T07:00:23Z", now_ms) == 1'649'314'823'000);
  CHECK(*parse_when("--since", "90s", now_ms) == now_ms - 90'000);
  CHECK(*parse_when("--since", "30m", now_ms) == now_ms - 1'800'000);
  CHECK(*parse_when("--since", "12h", now_ms) == now_ms - 43'200'000);
  CHECK(*parse_when("--since", "7d", now_ms) == now_ms - 604'800'000);
  for (const char* wrong : {"", "7w", "-1", "-7d", "yesterday", "100000001d", "99999999999999999999"}) {
    INFO(wrong);
    const auto refused = parse_when("--until", wrong, now_ms);
    CHECK(refused.code() == Code::kInvalid);
    CHECK(refused.status().message().starts_with("--until " + std::string(wrong) + ": give a time as "));
  }
}
