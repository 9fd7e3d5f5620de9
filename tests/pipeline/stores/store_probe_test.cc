#include "pipeline/stores/store_probe.h"

#include <catch2/catch.hpp>

#include "base/clock.h"
#include "pipeline/stores/open_stores.h"
#include "tests/support/folder.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

Settings in_folder(const std::string& path) {
  Settings settings;
  settings.store.path = path;
  settings.topics.partitions = 4;
  return settings;
}

Settings on_servers(const std::string& address) {
  Settings settings;
  settings.store.kind = StoreKind::kRedis;
  settings.store.redis.addresses = {address};
  settings.store.redis.timeout_ms = 100;
  return settings;
}

void make_store(const Settings& settings) {
  const Calendar calendar = Calendar::create(settings.retention()).value();
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  const FilterStores stores = open_stores(settings, StoreRole::kWrites, {calendar, clock, memory}).value();
  CHECK(stores.erases == settings.store.folder().has_value());
  CHECK(stores.reader->refresh().to_string() == "ok");
}

}  // namespace

TEST_CASE("store probe: a place without a store is told from a store, and one of other partitions is refused") {
  const Folder folder;
  Settings settings = in_folder(folder / "store");
  const StoreProbe before = probe_store(settings);
  CHECK(before.refused.ok());
  CHECK_FALSE(before.made);
  CHECK(check_store_folder(settings).code() == Code::kInvalid);
  make_store(settings);
  const StoreProbe after = probe_store(settings);
  CHECK(after.refused.ok());
  CHECK(after.made);
  CHECK(after.writer == 0);
  CHECK(after.stats.open_files_max > 0);
  CHECK(check_store_folder(settings).ok());
  settings.topics.partitions = 8;
  CHECK(probe_store(settings).refused.code() == Code::kInvalid);
  CHECK(probe_store(settings).made);
}

TEST_CASE("store probe: servers without a store are told from those with one, and from those that forbid a command") {
  RedisServer server;
  const Settings settings = on_servers(server.address().text());
  const StoreProbe before = probe_store(settings);
  CHECK(before.refused.to_string() == "ok");
  CHECK_FALSE(before.made);
  make_store(settings);
  const StoreProbe after = probe_store(settings);
  CHECK(after.refused.to_string() == "ok");
  CHECK(after.made);
  CHECK(after.writer == 0);
  server.ask({"CONFIG", "SET", "requirepass", "secret"});
  CHECK_FALSE(probe_store(settings).refused.ok());
  CHECK(probe_store(settings).made);
}

TEST_CASE("store probe: servers that evict are told before a store is there, and with one") {
  const RedisServer server({"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu", "--appendonly", "yes"});
  const Settings settings = on_servers(server.address().text());
  for (const bool made : {false, true}) {
    if (made) make_store(settings);
    const StoreProbe probe = probe_store(settings);
    CHECK(probe.made == made);
    CHECK(probe.refused.to_string() == "ok");
    CHECK(probe.servers.refusals.size() == 1);
    CHECK(probe.servers.warnings.empty());
  }
}

TEST_CASE("store probe: servers that do not answer are refused, as a store that is not there yet is not") {
  const StoreProbe probe = probe_store(on_servers("127.0.0.1:1"));
  CHECK(probe.refused.code() == Code::kRetry);
  CHECK(probe.made);
}

TEST_CASE("open stores: a store on servers has no folder, and backups of it are those of its servers") {
  const Settings settings = on_servers("127.0.0.1:1");
  CHECK(check_store_folder(settings).ok());
  const auto backups = backup_folder(settings);
  CHECK(backups.code() == Code::kInvalid);
  CHECK_THAT(backups.status().message(), Catch::Contains("store.redis.addresses is 127.0.0.1:1: backups"));
  Settings local = in_folder("/store");
  CHECK(backup_folder(local).code() == Code::kInvalid);
  local.store.backup_path = "/backups";
  CHECK(backup_folder(local).value() == "/backups");
}
