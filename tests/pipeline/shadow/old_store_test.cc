// The old store on a real redis-server.
#include "pipeline/shadow/old_store.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/jobs/migrate/legacy_bed.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Old {
  explicit Old(LegacyLayoutConfig config = {}) : bed(std::move(config)) {}
  Result<OldAnswer> ask(std::vector<std::string> items, OldStore::Config config = {}, const std::string& scene = "") {
    FilterCall call;
    call.user = "u1";
    call.scene = scene;
    call.items = std::move(items);
    return OldStore(config, bed.layout, *bed.client, clock).ask(call);
  }
  LegacyBed bed;
  ManualClock clock{LegacyBed::kNowMs};
};

}  // namespace

TEST_CASE("old store: a member of the user's sets is seen, with its time, or with the reason why it is no play") {
  Old old({.keys = {"hist:{user}", "like:{user}"}});
  old.bed.play("u1", 1'500);
  old.bed.server.ask({"ZADD", "like:u1", "1763000000000", "liked", "12", "early", "inf", "timeless"});
  const auto answer = old.ask({"u1-0", "u1-1499", "none", "liked", "early", "timeless"});
  REQUIRE(answer.ok());
  const std::vector<OldVerdict>& verdicts = answer->verdicts;
  REQUIRE(verdicts.size() == 6);
  CHECK(verdicts[0].seen);
  CHECK(verdicts[1].time_ms == LegacyBed::kNowMs - 3'600'000);
  CHECK_FALSE(verdicts[2].seen);
  CHECK(verdicts[3].time_ms == 1'763'000'000'000);
  CHECK(verdicts[4].seen);
  CHECK(verdicts[4].refusal == LegacyRefusal::kTimeTooEarly);
  CHECK(verdicts[5].refusal == LegacyRefusal::kNotATime);
  CHECK_FALSE(answer->cut);
}

TEST_CASE("old store: a set is cut when it is as large as its site lets it become") {
  Old old;
  old.bed.play("u1", 10);
  CHECK_FALSE(old.ask({"u1-0"}, {.cut_members = 11})->cut);
  CHECK(old.ask({"u1-0"}, {.cut_members = 10})->cut);
}

TEST_CASE("old store: a user without a key in the scene is a wrong query, and so are filters without patterns") {
  Old old;
  const auto refused = old.ask({"v1"}, {}, "feed");
  CHECK(refused.code() == Code::kBadRecord);
  CHECK(refused.status().message() == "user u1 has no key in the old store in scene feed");
  CHECK(old.ask({"v1"}, {.filters = true}).code() == Code::kBadRecord);
  Old with_filters({.filter_keys = {"bf:{user}"}});
  CHECK(with_filters.ask({"v1"}, {.filters = true}).code() == Code::kInvalid);  // No module RedisBloom.
}
