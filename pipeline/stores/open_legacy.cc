#include "pipeline/stores/open_legacy.h"

#include <utility>

#include "base/host/private_files.h"

namespace bloomring {

namespace {

constexpr RedisNames kNames{.store = "old store", .settings = "migrate"};

Result<RedisClientConfig> client_config(const MigrateSettings& migrate) {
  RedisClientConfig config;
  if (migrate.addresses.empty())
    return invalid("migrate.addresses is not set: name the servers of the old store, as host:port");
  for (const std::string& address : migrate.addresses) {
    BLOOMRING_TRY_ASSIGN(RedisAddress parsed, parse_redis_address(address));
    config.addresses.push_back(std::move(parsed));
  }
  config.login.user = migrate.user;
  if (!migrate.password_file.empty()) {
    auto password = read_secret(migrate.password_file);
    if (!password.ok()) return std::move(password).status().with_context("migrate.password_file");
    config.login.password = std::move(*password);
  }
  config.timeout_ms = migrate.timeout_ms;
  config.names = kNames;
  return config;
}

}  // namespace

Result<LegacyStore> open_legacy(const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(RedisClientConfig config, client_config(settings.migrate));
  BLOOMRING_TRY_ASSIGN(LegacyLayout layout, LegacyLayout::create(settings.legacy_layout()));
  auto counters = std::make_unique<RedisCounters>();
  auto client = std::make_unique<RedisClient>("old-store", std::move(config), *counters);
  return LegacyStore{std::move(layout), std::move(counters), std::move(client)};
}

}  // namespace bloomring
