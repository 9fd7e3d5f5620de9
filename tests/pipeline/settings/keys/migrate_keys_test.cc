#include "pipeline/settings/keys/migrate_keys.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/settings/keys/loaded.h"

using namespace bloomring;

TEST_CASE("settings: the old store of a site is described under migrate") {
  const Result<LoadedSettings> loaded = load({{"migrate.addresses", "[redis-1:6379, redis-2:6379]"},
                                              {"migrate.keys", "['h:{scene}:{user}', 'h:{user}']"},
                                              {"migrate.member", "v:{item}"},
                                              {"migrate.score_unit", "us"},
                                              {"migrate.page_members", "500"}});
  REQUIRE(loaded.status().message() == "");
  const MigrateSettings& migrate = loaded->settings.migrate;
  CHECK(migrate.addresses == std::vector<std::string>{"redis-1:6379", "redis-2:6379"});
  CHECK(migrate.keys == std::vector<std::string>{"h:{scene}:{user}", "h:{user}"});
  CHECK(migrate.member == "v:{item}");
  CHECK(migrate.score_unit == TimeUnit::kMicroseconds);
  CHECK(migrate.page_members == 500);
}

TEST_CASE("settings: a pattern, unit or size of the old store that cannot be is refused by its key") {
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"migrate.keys", "[hist]"},
                                   {"migrate.keys", "['{user}:{user}']"},
                                   {"migrate.member", "item"},
                                   {"migrate.score_unit", "minutes"},
                                   {"migrate.page_members", "9"},
                                   {"migrate.users_at_once", "0"},
                                   {"migrate.timeout_ms", "99"},
                                   {"migrate.read_through_timeout_ms", "0"},
                                   {"migrate.read_through_members_max", "99"},
                                   {"migrate.export_ttl_hours", "-1"}}) {
    CAPTURE(key, value);
    CHECK(complaint({{key, value}}).rfind("--" + key, 0) == 0);
  }
}

TEST_CASE("settings: reading the old store through needs its servers, and scenes that queries name") {
  CHECK_THAT(complaint({{"migrate.read_through", "true"}}), Catch::Contains("migrate.addresses must name the servers"));
  const std::string addresses = "[redis-1:6379]", keys = "['h:{scene}:{user}']";
  CHECK_THAT(complaint({{"migrate.read_through", "true"},
                        {"migrate.addresses", addresses},
                        {"migrate.keys", keys},
                        {"events.scene", ""}}),
             Catch::Contains("events.scene is empty"));
  const Result<LoadedSettings> loaded =
      load({{"migrate.read_through", "true"}, {"migrate.addresses", addresses}, {"migrate.keys", keys}});
  REQUIRE(loaded.status().message() == "");
  CHECK(loaded->settings.migrate.read_through);
}
