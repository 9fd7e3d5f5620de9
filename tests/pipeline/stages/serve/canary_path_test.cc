#include "pipeline/stages/serve/canary_path.h"

#include <catch2/catch.hpp>
#include <optional>

#include "tests/pipeline/kafka/kafka_world.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::Member;
using kafka::testing::must;

constexpr int64_t kTimeMs = 1'795'248'000'000;
constexpr const char* kNobody = "127.0.0.1:1";

// Its members take what the broker has of the topic.
std::vector<std::string> values_of(const kafka::ClientSettings& settings, const std::string& topic, size_t count) {
  kafka::ClientSettings reader = settings;
  reader.group = "canary-reader";
  Member member(reader, {topic});
  std::vector<std::string> values;
  REQUIRE(member.run_until([&] {
    values.clear();
    for (const Member::Ownership& owned : member.history)
      values.insert(values.end(), owned.read.values.begin(), owned.read.values.end());
    return values.size() >= count;
  }));
  return values;
}

}  // namespace

TEST_CASE("canary path: a play is written in the site's form, which ingest takes as a play") {
  const auto broker = broker_with({{"views", 3}});
  const auto producer = must(kafka::Producer::create(broker->settings()));
  PlayMapping site;
  site.user = "who.id";
  site.item = "video";
  site.time = "at";
  site.time_unit = TimeUnit::kSeconds;
  site.event = "kind";
  site.kinds = {{"view", EventKind::kPlay}, {"*", std::nullopt}};
  site.view = {.watched = "watched", .duration = "length", .share_min = 0.5};
  site.scenes = {"feed", "search"};
  ServiceCanaryPath path("views", site, *producer, canary_client(kNobody, {}));
  CHECK(path.scene() == "feed");
  std::optional<Status> written;
  path.play("bloomring-canary-0-1", "bloomring-canary-17", kTimeMs, [&](const Status& status) { written = status; });
  must(producer->flush(60'000));
  REQUIRE(written.has_value());
  CHECK(written->ok());

  const std::vector<std::string> values = values_of(broker->settings(), "views", 1);
  REQUIRE(values.size() == 1);
  PlayParser parser(site);
  Play play;
  REQUIRE(parser.parse(values[0], kTimeMs, play) == Refusal::kNone);
  CHECK(play.user == "bloomring-canary-0-1");
  CHECK(play.item == "bloomring-canary-17");
  CHECK(play.scene == "feed");
  CHECK(play.kind == EventKind::kPlay);
  CHECK(play.skip == Skip::kNone);
  CHECK(play.time_ms == kTimeMs);
}

TEST_CASE("canary path: a topic that does not exist, and a service that does not answer, are told with the reason") {
  const auto broker = broker_with({{"plays", 1}});
  const auto producer = must(kafka::Producer::create(broker->settings()));
  ServiceCanaryPath path("absent", {}, *producer, canary_client(kNobody, {}));
  Status written;
  path.play("u", "v", kTimeMs, [&](const Status& status) { written = status; });
  CHECK(written.code() == Code::kFatal);
  CHECK_THAT(written.message(), Catch::Contains("absent"));
  CHECK_FALSE(path.is_recent("u", "v").ok());
}

}  // namespace bloomring
