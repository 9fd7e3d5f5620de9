#include "state/legacy/legacy_set_cursor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "state/legacy/legacy_request.h"
#include "tests/state/legacy/old_store_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Bed : OldStoreBed {
  // Members of one page, and their number in all.
  std::vector<std::string> page(LegacySetCursor& cursor) {
    const RedisAnswer answer = client->call(legacy_request(cursor.key(), cursor.command()));
    REQUIRE(answer.ok());
    REQUIRE_FALSE(answer->front().error());
    largest = std::max(largest, answer->front().elements.size() / 2);
    auto taken = cursor.take(answer->front());
    REQUIRE(taken.ok());
    std::vector<std::string> members;
    for (const LegacyMember& one : *taken) members.push_back(one.member);
    return members;
  }
  std::vector<std::string> rest(LegacySetCursor& cursor) {
    std::vector<std::string> members;
    while (!cursor.done())
      for (std::string& member : page(cursor)) members.push_back(std::move(member));
    return members;
  }
  // Adds members "0", "1", ... with these scores.
  void add(const std::string& key, const std::vector<std::string>& scores) {
    for (size_t from = 0; from < scores.size(); from += 10'000) {
      const size_t to = std::min(from + 10'000, scores.size());
      RedisCommand command(2 + 2 * (to - from));
      command.add("ZADD").add(key);
      for (size_t i = from; i < to; ++i) command.add(scores[i]).add(std::to_string(i));
      REQUIRE(client->call(legacy_request(key, std::move(command).take())).ok());
    }
  }

  size_t largest = 0;  // Page.
};

std::vector<std::string> numbers(size_t count) {
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

template <typename Members>
std::set<std::string> as_set(const Members& members) {
  return {members.begin(), members.end()};
}

}  // namespace

TEST_CASE("legacy set cursor: every member is read once, in pages of the bound, by the order of scores") {
  Bed bed;
  for (const size_t size : {0, 1, 9, 10, 11, 19, 20, 21, 100}) {
    INFO(size);
    const std::string key = "k" + std::to_string(size);
    if (size > 0) bed.add(key, numbers(size));
    LegacySetCursor cursor(key, 10);
    CHECK(bed.rest(cursor) == numbers(size));
    CHECK(bed.largest <= 10);
  }
}

TEST_CASE("legacy set cursor: members of one score are read once, also where they fill pages") {
  Bed bed;
  for (const size_t same : {2, 9, 10, 11, 35}) {
    INFO(same);
    const std::string key = "k" + std::to_string(same);
    std::vector<std::string> scores;
    for (size_t i = 0; i < 60; ++i) scores.push_back(i < 7 ? "1" : i < 7 + same ? "2.5" : "3e3");
    bed.add(key, scores);
    LegacySetCursor cursor(key, 10);
    const auto members = bed.rest(cursor);
    CHECK(members.size() == 60);
    CHECK(as_set(members) == as_set(numbers(60)));
  }
}

TEST_CASE("legacy set cursor: infinite scores and scores of all 53 bits are pages' ends as others are") {
  Bed bed;
  std::vector<std::string> scores = {"-inf", "-inf", "-inf", "9007199254740991", "9007199254740990",
                                     "0.1",  "inf",  "inf",  "inf",              "1649314823123456"};
  bed.add("k", scores);
  for (const size_t page : {1, 2, 3}) {
    INFO(page);
    LegacySetCursor cursor("k", page);
    const auto members = bed.rest(cursor);
    CHECK(members.size() == scores.size());
    CHECK(as_set(members).size() == scores.size());
  }
}

TEST_CASE("legacy set cursor: a set that is cut and added to between two pages hides no member that stays") {
  Bed bed;
  bed.add("k", numbers(100));
  LegacySetCursor cursor("k", 10);
  std::set<std::string> read;
  for (int round = 0; !cursor.done(); ++round) {
    for (const std::string& member : bed.page(cursor)) read.insert(member);
    // As a site that keeps the newest 10,000, whose users delete single items and go on playing.
    bed.server.ask({"ZREMRANGEBYRANK", "k", "0", "3"});
    bed.server.ask({"ZREM", "k", std::to_string(10 * round + 9)});
    bed.server.ask({"ZADD", "k", std::to_string(1'000 + round), "new" + std::to_string(round)});
    bed.server.ask({"ZADD", "k", "5.5", "old" + std::to_string(round)});
  }
  for (int i = 0; i < 100; ++i) {
    INFO(i);
    if (!bed.server.ask({"ZSCORE", "k", std::to_string(i)}).empty()) CHECK(read.contains(std::to_string(i)));
  }
}

TEST_CASE("legacy set cursor: members of one score that go between two pages hide no member that stays") {
  Bed bed;
  const size_t page = GENERATE(2, 3, 10);
  bed.add("k", std::vector<std::string>(100, "7"));
  bed.server.ask({"ZADD", "k", "8", "later"});
  LegacySetCursor cursor("k", page);
  std::set<std::string> read;
  int pages = 0;
  for (; !cursor.done(); ++pages) {
    for (const std::string& member : bed.page(cursor)) read.insert(member);
    // A user deletes an item that was read, and the site adds one before those that were not.
    if (pages % 20 == 3 && pages < 120) bed.server.ask({"ZREM", "k", *read.begin()});
    if (pages % 20 == 13 && pages < 120) bed.server.ask({"ZADD", "k", "7", "!" + std::to_string(pages)});
    REQUIRE(pages < 5'000);
  }
  for (int i = 0; i < 100; ++i) {
    INFO(i);
    if (!bed.server.ask({"ZSCORE", "k", std::to_string(i)}).empty()) CHECK(read.contains(std::to_string(i)));
  }
  CHECK(read.contains("later"));
}

TEST_CASE("legacy set cursor: a set of one score that changes at every page is read to its end all the same") {
  Bed bed;
  bed.add("k", std::vector<std::string>(100, "7"));
  LegacySetCursor cursor("k", 10);
  int pages = 0;
  for (; !cursor.done(); ++pages) {
    bed.page(cursor);
    bed.server.ask({"ZADD", "k", "7", "!" + std::to_string(1'000 - pages)});
    REQUIRE(pages < 100);
  }
  CHECK(pages > LegacySetCursor::kAgainMax);
}

TEST_CASE("legacy set cursor: a set of a million members is read in pages of a thousand") {
  Bed bed;
  bed.add("k", numbers(1'000'000));
  LegacySetCursor cursor("k", 1'000);
  size_t members = 0;
  while (!cursor.done()) members += bed.page(cursor).size();
  CHECK(members == 1'000'000);
  CHECK(bed.largest == 1'000);
}

TEST_CASE("legacy set cursor: a reply of another form is refused, and the page asked for again") {
  LegacySetCursor cursor("k", 10);
  const std::string command = cursor.command();
  RedisReply reply;
  CHECK(cursor.take(reply).code() == Code::kRetry);
  reply.kind = RedisReply::Kind::kArray;
  reply.elements.resize(3);
  CHECK(cursor.take(reply).code() == Code::kRetry);
  CHECK(cursor.command() == command);
  CHECK_FALSE(cursor.done());
}
