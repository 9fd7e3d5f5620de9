#include "pipeline/settings/keys/migrate_keys.h"

#include <string>

#include "schemas/legacy/legacy_pattern.h"

namespace bloomring {
namespace {

std::string why_no_key_pattern(const std::string& text) {
  const auto pattern = LegacyPattern::of_keys(text);
  return pattern.ok() ? "" : pattern.status().message();
}

std::string why_no_member_pattern(const std::string& text) {
  const auto pattern = LegacyPattern::of_members(text);
  return pattern.ok() ? "" : pattern.status().message();
}

}  // namespace

void declare_migrate(Config& config, MigrateSettings& migrate) {
  config.section("migrate",
                 "The old store of a site, which `bloomring migrate`, `verify` and `shadow` read, and which `bloomring "
                 "export` writes: servers of the Redis protocol with a sorted set for each user, in which each member "
                 "is an item and its score the time of the play. No process of `bloomring run` needs it, unless "
                 "`migrate.read_through` is on.");
  config.list("migrate.addresses", &migrate.addresses)
      .doc(
          "Servers, as `host:port`: some of a cluster, which name the others, or a primary and all of its replicas.");
  config.string("migrate.user", &migrate.user)
      .doc("ACL user. docs/how-to/migrate.md has the commands that each job needs. Empty: the default user.");
  config.string("migrate.password_file", &migrate.password_file)
      .doc("File with the password of the user, in one line. Empty: no login.");
  config.integer("migrate.timeout_ms", &migrate.timeout_ms)
      .range(100, 600'000)
      .unit("milliseconds")
      .doc("How long a server may take for a page or a step of SCAN.");
  config.list("migrate.keys", &migrate.keys)
      .check(why_no_key_pattern)
      .doc(
          "Patterns of the keys, with `{user}` once and `{scene}` at most once: `hist:{user}`, "
          "`hist:{scene}:{user}`. Of several, the first one that matches a key decides, so the one with more text "
          "comes first. The set of a pattern without `{scene}` belongs to the user without a scene; where "
          "`events.scene` is empty, every set does. Keys of no pattern are left alone and counted.");
  config.list("migrate.filter_keys", &migrate.filter_keys)
      .check(why_no_key_pattern)
      .doc(
          "Patterns of the keys of Bloom filters of the module RedisBloom, in the form of `migrate.keys`, where the "
          "site answers from such filters. `bloomring shadow --old filters` asks them by BF.MEXISTS; they cannot be "
          "migrated.");
  config.string("migrate.member", &migrate.member)
      .check(why_no_member_pattern)
      .doc("Pattern of the members, with `{item}` once: `{item}`, `v:{item}`.");
  config
      .choice<TimeUnit>(
          "migrate.score_unit", &migrate.score_unit,
          {{"ms", TimeUnit::kMilliseconds}, {"s", TimeUnit::kSeconds}, {"us", TimeUnit::kMicroseconds}})
      .doc("Unit of the scores, since 1970-01-01 UTC.");
  config.integer("migrate.page_members", &migrate.page_members)
      .range(10, 100'000)
      .unit("members")
      .doc("Most members that one question reads. A set of any size takes the memory of one page.");
  config.integer("migrate.users_at_once", &migrate.users_at_once)
      .range(1, 4'096)
      .unit("sets")
      .doc("How many sets are asked for at the same time. Their first pages are in memory together.");
  config.boolean("migrate.read_through", &migrate.read_through)
      .doc(
          "Queries also read the sets of the old store, for users who are not migrated yet: their plays count as "
          "recent ones. A migration that runs with it marks each set as migrated, with a few plays of items that "
          "nobody has. Set it for the serve stage and for `bloomring migrate`, before the migration begins, and take "
          "it away from the serve stage when the migration has ended.");
  config.integer("migrate.read_through_timeout_ms", &migrate.read_through_timeout_ms)
      .range(1, 60'000)
      .unit("milliseconds")
      .doc("How long a query waits for the old store. After that its answer is incomplete.");
  config.integer("migrate.read_through_members_max", &migrate.read_through_members_max)
      .range(100, 1'000'000)
      .unit("members")
      .doc("Newest members that a query reads of a set. If there are more, its answer is incomplete.");
  config.integer("migrate.read_through_users_max", &migrate.read_through_users_max)
      .range(1, 4'096)
      .unit("users")
      .doc("How many users a process reads from the old store at once. Answers about more are incomplete.");
  config.integer("migrate.export_members_max", &migrate.export_members_max)
      .range(0, 4'000'000'000)
      .unit("members")
      .doc("`bloomring export` cuts each set that it writes to so many newest members, as the site does. 0: never.");
  config.integer("migrate.export_ttl_hours", &migrate.export_ttl_hours)
      .range(0, 100'000)
      .unit("hours")
      .doc("`bloomring export` lets a set expire so long after its last play, as the site does. 0: never.");
}

}  // namespace bloomring
