// On real servers of the Redis protocol. And a way that was rejected, for comparison: the first request of a user
// migrates the user (docs/decisions/0065-two-ways-that-were-rejected.md).
#include "pipeline/stages/serve/redis_old_plays.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>
#include <set>

#include "base/hash.h"
#include "schemas/legacy/migrated_marks.h"
#include "state/legacy/legacy_request.h"
#include "state/legacy/legacy_set_cursor.h"
#include "state/legacy/legacy_writer.h"
#include "tests/support/manual_clock.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kNowMs = 1'764'000'000'000;  // 2025-11-24.

struct Bed {
  explicit Bed(RedisOldPlaysConfig config = {}, LegacyLayoutConfig layout_config = {})
      : layout(LegacyLayout::create(std::move(layout_config)).value()) {
    reader = std::make_unique<RedisOldPlays>(store(), config, clock);
  }
  LegacyStore store() {
    RedisClientConfig redis;
    redis.addresses = {server.address()};
    redis.names = {.store = "old store", .settings = "migrate"};
    auto counters = std::make_unique<RedisCounters>();
    auto client = std::make_unique<RedisClient>("old-store", std::move(redis), *counters);
    return {layout, std::move(counters), std::move(client)};
  }
  // v0 is the newest; each is a minute older than the one before.
  void fill(const std::string& key, size_t plays) {
    const LegacyStore writing = store();
    LegacyWriter writer(*writing.client);
    for (size_t i = 0; i < plays; ++i)
      REQUIRE(writer.add(key, "v" + std::to_string(i), std::to_string(kNowMs - int64_t(i) * 60'000)).ok());
    REQUIRE(writer.flush().ok());
  }
  OldPlays read(std::vector<std::string> keys, int64_t since_ms = 0, int64_t timeout_ms = 10'000) {
    std::promise<OldPlays> ended;
    reader->begin(std::move(keys), since_ms, timeout_ms, [&](OldPlays plays) { ended.set_value(std::move(plays)); });
    return ended.get_future().get();
  }
  // Commands of this kind that the server has carried out.
  uint64_t calls(const std::string& command) {
    const std::string stats = server.ask({"INFO", "commandstats"});
    const size_t at = stats.find("cmdstat_" + command + ":calls=");
    if (at == std::string::npos) return 0;
    return std::stoull(stats.substr(stats.find('=', at) + 1));
  }

  RedisServer server;
  ManualClock clock{kNowMs};
  const LegacyLayout layout;
  std::unique_ptr<RedisOldPlays> reader;
};

}  // namespace

TEST_CASE("old plays: a user has the sets of the layout, each with the marks that a migration writes") {
  Bed bed({}, {.keys = {"hist:{scene}:{user}", "more:{scene}:{user}", "hist:{user}"}});
  const auto sets = bed.reader->sets_of(UserKey("feed", "17").bytes());
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].key == "hist:feed:17");
  CHECK(sets[1].key == "more:feed:17");
  CHECK(sets[0].marks == migrated_marks("hist:feed:17", 0.01));
}

TEST_CASE("old plays: the plays of all sets are read with their times, from the begin of the window on") {
  Bed bed;
  bed.fill("hist:u1", 100);
  bed.fill("more:u1", 3);
  bed.server.ask({"ZADD", "hist:u1", "-inf", "never", std::to_string(kNowMs), std::string(129, 'x')});
  const OldPlays all = bed.read({"hist:u1", "more:u1", "hist:nobody"});
  CHECK(all.missing.empty());
  CHECK(all.plays.size() == 103);
  const OldPlays some = bed.read({"hist:u1"}, kNowMs - 9 * 60'000);
  CHECK(some.missing.empty());
  REQUIRE(some.plays.size() == 10);
  CHECK(some.plays.back().item == item_hash("v9"));
  CHECK(some.plays.back().time_ms == kNowMs - 9 * 60'000);
}

TEST_CASE("old plays: of a set with more members than are read the newest are found, and the rest is missing") {
  Bed bed({.members_max = 50});
  bed.fill("hist:u1", 51);
  bed.fill("hist:u2", 50);
  const OldPlays cut = bed.read({"hist:u1"});
  CHECK(cut.missing == "old store: a set has more members than the 50 that are read");
  CHECK(cut.plays.size() == 50);
  CHECK(std::ranges::none_of(cut.plays, [](const OldPlay& play) { return play.item == item_hash("v50"); }));
  CHECK(bed.read({"hist:u2"}).missing.empty());
}

TEST_CASE("old plays: a key that holds no set has no plays, and hides none") {
  Bed bed;
  bed.server.ask({"SET", "hist:text", "x"});
  const OldPlays none = bed.read({"hist:text"});
  CHECK(none.missing.empty());
  CHECK(none.plays.empty());
}

TEST_CASE("old plays: a server that stands still is waited for within the bound, by no more users than are allowed") {
  Bed bed({.reads_max = 2});
  bed.fill("hist:u1", 5);
  REQUIRE(bed.read({"hist:u1"}).missing.empty());
  bed.server.freeze();
  std::promise<OldPlays> first, second;
  bed.reader->begin({"hist:u1"}, 0, 300, [&](OldPlays plays) { first.set_value(std::move(plays)); });
  bed.reader->begin({"hist:u1"}, 0, 300, [&](OldPlays plays) { second.set_value(std::move(plays)); });
  CHECK(bed.read({"hist:u1"}, 0, 300).missing == "old store: too many users are read at once");
  CHECK_THAT(first.get_future().get().missing, Catch::StartsWith("old store"));
  CHECK_THAT(second.get_future().get().missing, Catch::StartsWith("old store"));
  bed.server.unfreeze();
  wait_until_true("the old store to be read again", [&] { return bed.read({"hist:u1"}).missing.empty(); });
}

TEST_CASE("old plays: a server that is gone is said to be, and its end ends what waits") {
  Bed bed;
  bed.server.kill_now();
  CHECK_THAT(bed.read({"hist:u1"}, 0, 300).missing, Catch::StartsWith("old store"));
  std::promise<OldPlays> last;
  bed.reader->begin({"hist:u1"}, 0, 60'000, [&](OldPlays plays) { last.set_value(std::move(plays)); });
  bed.reader.reset();
  CHECK_FALSE(last.get_future().get().missing.empty());
}

// The model: the request reads the whole set in pages, and writes what it has read, before it answers. A question to a
// server takes a millisecond of virtual time.
TEST_CASE("rejected: a first request that migrates its user takes as long as its set is large; reading through not") {
  Bed bed({.members_max = 10'000});
  constexpr int64_t kQuestionMs = 1, kDeadlineMs = 50;
  const LegacyStore model = bed.store();
  const auto first_request_ms = [&](const std::string& key) {
    int64_t took_ms = 0;
    for (LegacySetCursor cursor(key, 1'000); !cursor.done();) {
      auto answer = model.client->call(legacy_request(key, cursor.command()));
      REQUIRE(answer.ok());
      REQUIRE(cursor.take(std::move(answer->front())).ok());
      took_ms += 2 * kQuestionMs;  // The page, and the filters with it.
    }
    return took_ms;
  };
  int64_t before_ms = 0;
  for (const size_t plays : {100, 10'000, 100'000}) {
    const std::string key = "hist:" + std::to_string(plays);
    bed.fill(key, plays);
    const int64_t took_ms = first_request_ms(key);
    CHECK(took_ms > 5 * before_ms);  // It grows with the set, without a bound.
    before_ms = took_ms;
    const uint64_t questions = bed.calls("zrevrangebyscore");
    const OldPlays through = bed.read({key});
    CHECK(static_cast<int64_t>(bed.calls("zrevrangebyscore") - questions) * kQuestionMs == 1);
    // Nothing is lost: what is not read is said to be missing.
    CHECK(through.plays.size() == std::min<size_t>(plays, 10'000));
    CHECK(through.missing.empty() == (plays <= 10'000));
  }
  CHECK(before_ms > kDeadlineMs);
}
