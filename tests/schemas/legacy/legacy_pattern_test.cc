#include "schemas/legacy/legacy_pattern.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

// "user|scene|item" of a text, or "-".
std::string matched(const Result<LegacyPattern>& pattern, std::string_view text) {
  LegacyIds ids;
  if (!pattern->match(text, ids)) return "-";
  return std::string(ids.user) + "|" + std::string(ids.scene) + "|" + std::string(ids.item);
}

}  // namespace

TEST_CASE("legacy pattern: a key has the user between prefix and suffix") {
  const auto pattern = LegacyPattern::of_keys("hist:{user}:v2");
  CHECK(matched(pattern, "hist:17:v2") == "17||");
  CHECK(matched(pattern, "hist::v2:v2") == ":v2||");
  CHECK(matched(pattern, "hist::v2") == "||");
  CHECK(matched(pattern, "hist:v2") == "-");  // The prefix and the suffix share no byte.
  CHECK(matched(pattern, "hist:17") == "-");
  CHECK(matched(pattern, "hits:17:v2") == "-");
  CHECK(pattern->fill({.user = "17"}) == "hist:17:v2");
  CHECK_FALSE(pattern->has_scene());
}

TEST_CASE("legacy pattern: the scene ends at the separator that is nearest to it, on either side of the user") {
  const auto first = LegacyPattern::of_keys("h:{scene}:{user}");
  CHECK(matched(first, "h:feed:17") == "17|feed|");
  CHECK(matched(first, "h:feed:a:b") == "a:b|feed|");
  CHECK(matched(first, "h::17") == "17||");
  CHECK(matched(first, "h:17") == "-");
  const auto last = LegacyPattern::of_keys("h:{user}:{scene}");
  CHECK(matched(last, "h:a:b:feed") == "a:b|feed|");
  CHECK(last->fill({.user = "a:b", .scene = "feed"}) == "h:a:b:feed");
  CHECK(last->has_scene());
}

TEST_CASE("legacy pattern: braces around a place are a hash tag") {
  const auto pattern = LegacyPattern::of_keys("{{user}}:hist");
  CHECK(matched(pattern, "{17}:hist") == "17||");
  CHECK(pattern->fill({.user = "17"}) == "{17}:hist");
}

TEST_CASE("legacy pattern: a place is any bytes, of a member, too") {
  const auto pattern = LegacyPattern::of_members("{item}");
  CHECK(matched(pattern, std::string("v\0\xff", 3)) == "||" + std::string("v\0\xff", 3));
  CHECK(matched(pattern, "") == "||");
  CHECK(matched(LegacyPattern::of_members("v:{item}"), "v:v:1") == "||v:1");
}

TEST_CASE("legacy pattern: what nobody could take apart is refused with the form that is wanted") {
  for (const char* text : {"", "hist", "hist:{usr}", "{user}{user}", "{scene}:{user}:{scene}", "{user}:{item}"}) {
    INFO(text);
    const auto pattern = LegacyPattern::of_keys(text);
    REQUIRE(pattern.code() == Code::kInvalid);
    CHECK_THAT(pattern.status().message(), Catch::StartsWith("must have {user} once"));
  }
  CHECK_THAT(LegacyPattern::of_keys("{scene}{user}").status().message(), Catch::StartsWith("must have text between"));
  for (const char* text : {"", "v", "{item}{item}", "{user}", "{item}:{scene}"}) {
    INFO(text);
    CHECK_THAT(LegacyPattern::of_members(text).status().message(), Catch::StartsWith("must have {item} once"));
  }
}

TEST_CASE("legacy pattern: SCAN gets a star for each place and the rest literally") {
  CHECK(LegacyPattern::of_keys("h[1]*:{scene}:{user}?")->glob() == "h\\[1\\]\\*:*:*\\?");
  CHECK(escape_glob("a\\b^c-d") == "a\\\\b\\^c-d");
}
