#include "pipeline/settings/keys/load_settings.h"

#include <catch2/catch.hpp>

#include "pipeline/stages/topology.h"
#include "tests/pipeline/settings/keys/loaded.h"

using namespace bloomring;

TEST_CASE("settings: the defaults fit together") {
  const Result<LoadedSettings> loaded = load({});
  REQUIRE(loaded.status().message() == "");
  const Settings& s = loaded->settings;
  CHECK(loaded->warnings.empty());
  CHECK_FALSE(s.instance.empty());
  CHECK(s.ring.lap_ms() == 6 * 3600 * 1000);
  CHECK(s.retention().periods_read == 4);
  CHECK(s.retention().ahead_ms == 600 * 1000);
  CHECK(s.stages == all_stages(topology()));
}

TEST_CASE("settings: values reach their fields") {
  const Result<LoadedSettings> loaded = load({{"kafka.bootstrap", "b:9092"},
                                              {"kafka.properties", "{security.protocol: SSL}"},
                                              {"topics.plays", "a,b"},
                                              {"events.item", "video_id"},
                                              {"events.time_unit", "s"},
                                              {"ring.slot_seconds", "5"},
                                              {"filter.period", "week"},
                                              {"filter.time_zone", "Asia/Shanghai"},
                                              {"stages", "serve,merge"},
                                              {"log.format", "json"},
                                              {"ingest.drop_repeats", "false"}});
  REQUIRE(loaded.status().message() == "");
  const Settings& s = loaded->settings;
  CHECK(s.kafka.bootstrap == "b:9092");
  CHECK(s.kafka.properties.at("security.protocol") == "SSL");
  CHECK(s.topics.plays() == std::vector<std::string>{"a", "b"});
  CHECK(s.events.item == "video_id");
  CHECK(s.events.time_unit == TimeUnit::kSeconds);
  CHECK(s.ring.slot_ms() == 5000);
  CHECK(s.retention().unit == PeriodUnit::kWeek);
  CHECK(s.retention().time_zone == "Asia/Shanghai");
  CHECK(s.stages == stages_named(topology(), {"merge", "serve"}));
  CHECK(s.log.format == LogFormat::kJson);
  CHECK_FALSE(s.ingest.drop_repeats);
}

TEST_CASE("settings: what cannot be read and what does not fit is said in one pass, and nothing that follows from it") {
  const std::string text = complaint({{"topics.partitions", "7"}, {"ring.slots", "99"}, {"ring.slots_", "1"}});
  CHECK_THAT(text, Catch::Contains("topics.partitions is 7; it must divide") &&
                       Catch::Contains("ring.slots is 99; ") && Catch::Contains("unknown key ring.slots_"));
  // The lap of a ring whose slots are not known is not known.
  CHECK(complaint({{"ring.slots", "x"}, {"topics.retention_hours", "1"}}).find("retention_hours") == std::string::npos);
}

TEST_CASE("settings: everything that does not fit is said at once") {
  CHECK_THAT(complaint({{"topics.partitions", "3"}, {"store.kind", "redis"}}),
             Catch::Contains("\ndefault: store.redis.addresses "));
}

TEST_CASE("settings: the place where topics were named is known") {
  CHECK(load({})->settings.topics.places.empty());
  CHECK(load({{"topics.plays", "views"}})->settings.topics.places ==
        std::map<TopicRole, std::string>{{TopicRole::kPlays, "--topics.plays"}});
}
