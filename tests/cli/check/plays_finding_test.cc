#include "cli/check/plays_finding.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/config/finding.h"
#include "pipeline/settings/keys/load_settings.h"
#include "pipeline/stages/topology.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'649'314'900'000;
constexpr double kShareMax = 0.1;
const std::string kPlay = R"({"user":"u1","item":"v1","time":1649314823123,"action":"view"})";
const std::string kUnnamed = R"({"user":"u1","item":"v1","time":1649314823123})";
const std::string kNobody = R"({"item":"v1","time":1649314823123,"action":"view","who":{"id":7}})";

std::vector<NewestPlay> records(size_t count, const std::string& value) {
  return std::vector<NewestPlay>(count, {PartitionId(3), Offset(17), value});
}

std::vector<NewestPlay> operator+(std::vector<NewestPlay> left, const std::vector<NewestPlay>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

EventSettings with_kinds(std::map<std::string, std::string> kinds) {
  EventSettings events;
  events.event = "action";
  events.scene = "";
  events.kinds = std::move(kinds);
  return events;
}

PlaysFinding judge(const std::vector<NewestPlay>& plays, const EventSettings& events, double share_max = kShareMax) {
  return judge_plays("views", plays, events, share_max, kNowMs);
}

}  // namespace

TEST_CASE("plays finding: more refused than the share that ingest allows is an error, up to it a warning") {
  const EventSettings events = with_kinds({{"view", "play"}});
  const PlaysFinding much = judge(records(89, kPlay) + records(11, kNobody), events);
  REQUIRE(much.errors.size() == 1);
  CHECK(much.errors.front() ==
        "topic views: of the newest 100 records 89 would be accepted and 11 refused as missing_field, the first at "
        "partition 3, offset 17: events.user 'user': field missing (fields there: item, time, action, who.id); correct "
        "events.user, or the producer");
  CHECK(much.warnings.empty());
  const PlaysFinding some = judge(records(90, kPlay) + records(10, kNobody), events);
  CHECK(some.errors.empty());
  CHECK(some.warnings.size() == 1);
  CHECK(judge(records(89, kPlay) + records(11, kNobody), events, 0.11).errors.empty());
}

TEST_CASE("plays finding: the share of a handful says nothing, all of it does") {
  const EventSettings events = with_kinds({{"view", "play"}});
  CHECK(judge(records(2, kPlay) + records(17, kNobody), events).errors.empty());
  CHECK(judge(records(2, kPlay) + records(18, kNobody), events).errors.size() == 1);
  CHECK(judge(records(1, kNobody), events, 1).errors.size() == 1);
}

TEST_CASE("plays finding: skipped records are no refused ones, and are told by why") {
  EventSettings events = with_kinds({{"view", "play"}, {"like", "ignore"}, {"delete", "forget"}});
  events.watched = "w";
  events.view_ms_min = 10;
  const auto kind = [](const std::string& fields) {
    return R"({"user":"u1","item":"v1","time":1649314823123,)" + fields + "}";
  };
  const PlaysFinding finding =
      judge(records(1, kind(R"("action":"view","w":10)")) + records(2, kind(R"("action":"view","w":9)")) +
                records(97, kind(R"("action":"like")")) + records(1, kind(R"("action":"delete")")) + records(3, kPlay),
            events);
  CHECK(finding.errors.empty());
  CHECK(to_string(finding.read) ==
        "topic views: 104 read, of which 1 are plays, 1 serves or forgets, 97 of ignored kinds, 2 short views, 3 "
        "refused");
  REQUIRE(finding.warnings.size() == 1);
  CHECK(finding.warnings.front().find("3 refused as missing_field") != std::string::npos);
  CHECK(judge(records(5, kind(R"("action":"like")")), events).warnings.front().find("all would be skipped") !=
        std::string::npos);
}

TEST_CASE("plays finding: records without the field of kinds are told with key, topic and how many") {
  const auto plays = records(40, kPlay) + records(2, kUnnamed);
  const PlaysFinding refused = judge(plays, with_kinds({{"view", "play"}}));
  REQUIRE(refused.warnings.size() == 1);
  CHECK(refused.warnings.front() ==
        "topic views: of the newest 42 records 40 would be accepted and 2 refused as missing_field, the first at "
        "partition 3, offset 17: events.event 'action': field missing, and events.kinds has no \"\" (fields there: "
        "user, item, time); correct events.event, or give records without it a kind in events.kinds, as \"\": play "
        "or \"\": ignore");
  CHECK(judge(plays, with_kinds({{"view", "play"}, {"", "ignore"}})).warnings.empty());
  const PlaysFinding never = judge(records(42, kUnnamed), with_kinds({{"view", "play"}, {"", "play"}}));
  REQUIRE(never.warnings.size() == 1);
  CHECK(finding_of(never.warnings.front()).key == "events.event");
  CHECK(never.warnings.front().find("none of the newest 42 records of topic views") != std::string::npos);
}

TEST_CASE("plays finding: each field that is wrong is told, also where the reason is the same") {
  const auto plays = records(40, kPlay) + records(2, kNobody) + records(1, R"({"user":"u1","action":"view"})");
  const PlaysFinding finding = judge(plays, with_kinds({{"view", "play"}}));
  REQUIRE(finding.warnings.size() == 2);
  CHECK(finding.warnings[0].find("1 refused as missing_field") != std::string::npos);
  CHECK(finding.warnings[0].find("events.item 'item'") != std::string::npos);
  CHECK(finding.warnings[1].find("2 refused as missing_field") != std::string::npos);
  CHECK(finding.warnings[1].find("events.user 'user'") != std::string::npos);
}

TEST_CASE("plays finding: of an empty topic nothing was read, and nothing is found") {
  const PlaysFinding finding = judge({}, EventSettings());
  CHECK(finding.errors.empty());
  CHECK(finding.warnings.empty());
  CHECK(to_string(finding.read) == "topic views: nothing was read, it is empty");
}

TEST_CASE("plays finding: the example of a site's events becomes what docs/operating.md says") {
  const std::string folder = std::string(BLOOMRING_EXAMPLES) + "/events/";
  const auto loaded = load_settings(ConfigSources{.path = folder + "site.yaml"}, topology());
  REQUIRE(loaded.status().message() == "");
  CHECK(loaded->warnings.empty());
  PlayParser parser(loaded->settings.events.mapping());
  std::ifstream file(folder + "events.jsonl");
  std::string became;
  std::vector<NewestPlay> plays;
  for (std::string json; std::getline(file, json);) {
    plays.push_back({PartitionId(0), Offset(static_cast<int64_t>(plays.size())), json});
    Play play;
    const Refusal refusal = parser.parse(json, kNowMs, play);
    if (refusal != Refusal::kNone) {
      became += std::string(refusal_name(refusal)) + ": " + parser.detail() + "\n";
    } else if (play.skip != Skip::kNone) {
      became += std::string(skip_name(play.skip)) + "\n";
    } else {
      const char* const kinds[] = {"", "play", "serve", "forget", "forget_all"};
      became += std::string(kinds[static_cast<size_t>(play.kind)]) + " " + std::string(play.user) + " " +
                std::string(play.item) + " '" + std::string(play.scene) + "'\n";
    }
  }
  CHECK(became ==
        "play 17 v1 'feed'\n"
        "play 17 v2 ''\n"
        "short_view\n"
        "play 17 v4 ''\n"
        "serve 17 v5 ''\n"
        "forget 17 v1 'feed'\n"
        "forget_all 17  ''\n"
        "ignored_kind\n"
        "ignored_kind\n"
        "missing_field: events.item 'video.id': field missing\n"
        "missing_field: events.duration 'video.watch.length': field missing\n"
        "unknown_scene: events.scene 'context.page': 'fed' is none of events.scenes\n"
        "time_ahead: events.time 'at': more than a day ahead of the clock, is events.time_unit right?\n");
  const PlaysRead read = judge(plays, loaded->settings.events).read;
  CHECK(std::vector{read.read, read.plays, read.serves_and_forgets, read.ignored_kind, read.short_view, read.refused} ==
        std::vector<uint64_t>{13, 3, 3, 2, 1, 4});
}
