#include "schemas/legacy/legacy_layout.h"

#include <catch2/catch.hpp>
#include <set>

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'764'000'000'000;  // 2025-11-24.

LegacyLayout layout(LegacyLayoutConfig config) { return LegacyLayout::create(std::move(config)).value(); }

// "scene/user", or the reason of the refusal.
std::string owner(const LegacyLayout& of, std::string_view key) {
  UserKey user;
  const LegacyRefusal refusal = of.read_key(key, user);
  if (refusal != LegacyRefusal::kNone) return std::string(legacy_refusal_name(refusal));
  return std::string(user.scene()) + "/" + std::string(user.user());
}

// "item@time", or the reason of the refusal.
std::string play(const LegacyLayout& of, std::string_view member, std::string_view score, int64_t now_ms = kNowMs) {
  LegacyPlay play;
  const LegacyRefusal refusal = of.read_member(member, score, now_ms, play);
  if (refusal != LegacyRefusal::kNone) return std::string(legacy_refusal_name(refusal));
  return std::string(play.item) + "@" + std::to_string(play.time_ms);
}

}  // namespace

TEST_CASE("legacy layout: the first pattern that matches a key names user and scene") {
  const LegacyLayout both = layout({.keys = {"hist:{scene}:{user}", "hist:{user}"}});
  CHECK(owner(both, "hist:feed:17") == "feed/17");
  CHECK(owner(both, "hist:17") == "/17");
  CHECK(owner(both, "other:17") == "foreign_key");
  const LegacyLayout reversed = layout({.keys = {"hist:{user}", "hist:{scene}:{user}"}});
  CHECK(owner(reversed, "hist:feed:17") == "/feed:17");
}

TEST_CASE("legacy layout: where scenes do not part filters, all sets of a user are one history") {
  const LegacyLayout united = layout({.keys = {"hist:{scene}:{user}"}, .scenes_part = false});
  CHECK(owner(united, "hist:feed:17") == "/17");
  CHECK(owner(united, "hist:search:17") == "/17");
}

TEST_CASE("legacy layout: a user or scene that no query can name is refused") {
  const LegacyLayout any = layout({.keys = {"h:{scene}:{user}"}});
  CHECK(owner(any, "h:feed:") == "empty_id");
  CHECK(owner(any, "h:feed:" + std::string(128, 'u')) == "feed/" + std::string(128, 'u'));
  CHECK(owner(any, "h:feed:" + std::string(129, 'u')) == "id_too_long");
  CHECK(owner(any, "h:feed:\xff") == "bad_text");
  CHECK(owner(any, std::string("h:feed:a\0b", 10)) == "bad_text");
  CHECK(owner(any, "h:" + std::string(129, 's') + ":1") == "id_too_long");
  CHECK(owner(any, "h:\xff:1") == "bad_text");
  CHECK(owner(any, "h:bloomring-clock:1") == "unknown_scene");
  const LegacyLayout declared = layout({.keys = {"h:{scene}:{user}"}, .scenes = {"feed", "search"}});
  CHECK(owner(declared, "h:feed:1") == "feed/1");
  CHECK(owner(declared, "h:comics:1") == "unknown_scene");
  CHECK(owner(declared, "h::1") == "unknown_scene");
}

TEST_CASE("legacy layout: a score is a time in its unit") {
  CHECK(play(layout({}), "v1", "1649314823123") == "v1@1649314823123");
  CHECK(play(layout({}), "v1", "1.649314823123e+12") == "v1@1649314823123");
  CHECK(play(layout({.score_unit = TimeUnit::kMicroseconds}), "v1", "1649314823123999") == "v1@1649314823123");
  CHECK(play(layout({.score_unit = TimeUnit::kSeconds}), "v1", "1649314823.123") == "v1@1649314823123");
}

TEST_CASE("legacy layout: a score in whole seconds counts at the end of its second, and never ahead of the clock") {
  const LegacyLayout seconds = layout({.score_unit = TimeUnit::kSeconds});
  CHECK(play(seconds, "v1", "1649314823") == "v1@1649314823999");
  CHECK(play(seconds, "v1", "1764000000", kNowMs + 300) == "v1@" + std::to_string(kNowMs + 300));
  CHECK(play(layout({}), "v1", std::to_string(kNowMs + 86'400'000)) == "v1@" + std::to_string(kNowMs));
}

TEST_CASE("legacy layout: a score that is no time of a play is refused") {
  for (const char* score : {"inf", "-inf", "nan", "", "v1", "1649314823123x"}) {
    INFO(score);
    CHECK(play(layout({}), "v1", score) == "not_a_time");
  }
  for (const char* score : {"0", "-1", "-1e300", "1649314823", "946684799999"}) {
    INFO(score);
    CHECK(play(layout({}), "v1", score) == "time_too_early");  // Seconds in a layout of milliseconds, too.
  }
  CHECK(play(layout({}), "v1", "946684800000") == "v1@946684800000");
  for (const char* score : {"1649314823123000", "1e300"}) {
    INFO(score);
    CHECK(play(layout({}), "v1", score) == "time_ahead");
  }
  CHECK(play(layout({}), "v1", std::to_string(kNowMs + 86'400'001)) == "time_ahead");
}

TEST_CASE("legacy layout: a member is an item id, behind its prefix") {
  const LegacyLayout prefixed = layout({.member = "v:{item}"});
  CHECK(play(prefixed, "v:4711", "1649314823123") == "4711@1649314823123");
  CHECK(play(prefixed, "4711", "1649314823123") == "foreign_member");
  CHECK(play(prefixed, "v:", "1649314823123") == "empty_id");
  CHECK(play(prefixed, "v:" + std::string(129, 'i'), "1649314823123") == "id_too_long");
  CHECK(play(prefixed, "v:\xc3", "1649314823123") == "bad_text");
}

TEST_CASE("legacy layout: what it writes it reads") {
  const LegacyLayout seconds =
      layout({.keys = {"h:{scene}:{user}"}, .member = "v:{item}", .score_unit = TimeUnit::kSeconds});
  CHECK(seconds.key_of("feed", "17") == "h:feed:17");
  CHECK(owner(seconds, seconds.key_of("feed", "17")) == "feed/17");
  CHECK(play(seconds, seconds.member_of("1"), seconds.score_of(1'649'314'823'123)) == "1@1649314823999");
  const LegacyLayout none = layout({.keys = {"hist:{user}"}});
  CHECK(none.key_of("feed", "17").empty());
  CHECK(none.key_of("", "17") == "hist:17");
  CHECK(none.score_of(1'649'314'823'123) == "1649314823123");
  CHECK(layout({.score_unit = TimeUnit::kMicroseconds}).score_of(1'649'314'823'123) == "1649314823123000");
}

TEST_CASE("legacy layout: where sets of all scenes are united, those of the scene that is named are the user's") {
  using Keys = std::vector<std::string>;
  const LegacyLayoutConfig config{
      .keys = {"hist:{scene}:{user}", "all:{user}"}, .filter_keys = {"bf:{user}"}, .scenes_part = false};
  const LegacyLayout united = layout(config);
  CHECK(united.keys_of("feed", "17") == Keys{"hist:feed:17", "all:17"});
  CHECK(united.keys_of("", "17") == Keys{"hist::17", "all:17"});
  CHECK(united.filter_keys_of("feed", "17") == Keys{"bf:17"});
}

TEST_CASE("legacy layout: a Bloom filter of all scenes is asked about none alone") {
  const LegacyLayout apart = layout({.filter_keys = {"bf:{scene}:{user}", "bf:{user}"}});
  CHECK(apart.filter_keys_of("feed", "17") == std::vector<std::string>{"bf:feed:17"});
  CHECK(apart.filter_keys_of("", "17") == std::vector<std::string>{"bf::17", "bf:17"});
  CHECK(layout({}).filter_keys_of("feed", "17").empty());
}

TEST_CASE("legacy layout: the keys of a user are those that are read as this user's, and no others") {
  using Keys = std::vector<std::string>;
  const LegacyLayout two = layout({.keys = {"hist:{scene}:{user}", "hist:{user}"}});
  CHECK(two.keys_of("feed", "17") == Keys{"hist:feed:17"});
  CHECK(two.keys_of("", "17") == Keys{"hist::17", "hist:17"});
  CHECK(two.keys_of("", "a:b") == Keys{"hist::a:b"});  // "hist:a:b" belongs to the user b in the scene a.
  CHECK(two.keys_of("a:b", "17").empty());             // "hist:a:b:17" belongs to the scene a.
  CHECK(two.keys_of("feed", std::string(129, 'u')).empty());
  CHECK(layout({.keys = {"hist:{user}"}}).keys_of("feed", "17").empty());
  CHECK(layout({.keys = {"hist:{user}", "play:{user}"}}).keys_of("", "17") == Keys{"hist:17", "play:17"});
  CHECK(layout({.keys = {"hist:{user}"}, .scenes = {"feed"}}).keys_of("", "17").empty());
}

TEST_CASE("legacy layout: the score after a time is the least one that is read as later") {
  for (const TimeUnit unit : {TimeUnit::kSeconds, TimeUnit::kMilliseconds, TimeUnit::kMicroseconds}) {
    const LegacyLayout here = layout({.score_unit = unit});
    for (const int64_t time_ms : {1'649'314'823'000, 1'649'314'823'123, 1'649'314'823'998, 1'649'314'823'999}) {
      INFO(time_ms);
      const std::string after = here.score_after(time_ms);
      const auto read_ms = [&](int64_t score) {
        LegacyPlay read;
        REQUIRE(here.read_member("v", std::to_string(score), kNowMs, read) == LegacyRefusal::kNone);
        return read.time_ms;
      };
      CHECK(read_ms(std::stoll(after)) > time_ms);
      CHECK(read_ms(std::stoll(after) - 1) <= time_ms);
    }
  }
}

TEST_CASE("legacy layout: one pattern is its own glob, several share their beginning") {
  CHECK(layout({.keys = {"hist:{user}:v2"}}).glob() == "hist:*:v2");
  CHECK(layout({.keys = {"hist:{user}", "hits*{user}"}}).glob() == "hi*");
  CHECK(layout({.keys = {"a{user}", "b{user}"}}).glob() == "*");
}

TEST_CASE("legacy layout: a wrong pattern is named") {
  CHECK_THAT(LegacyLayout::create({.keys = {"hist"}}).status().message(), Catch::StartsWith("has hist; it must have"));
  CHECK_THAT(LegacyLayout::create({.filter_keys = {"bf"}}).status().message(),
             Catch::StartsWith("has bf; it must have"));
  CHECK_THAT(LegacyLayout::create({.keys = {}}).status().message(), Catch::StartsWith("is empty; it must have"));
  CHECK_THAT(LegacyLayout::create({.member = "x"}).status().message(), Catch::StartsWith("is x; it must have"));
}

TEST_CASE("legacy layout: each reason has a name of its own") {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kLegacyRefusalCount; ++i) names.insert(legacy_refusal_name(static_cast<LegacyRefusal>(i)));
  CHECK(names.size() == kLegacyRefusalCount);
  CHECK(legacy_refusal_name(LegacyRefusal::kTimeAhead) == "time_ahead");
}
