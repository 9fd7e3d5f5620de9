// Values of users with many plays in a period, in the dense form, through all that stores do with values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "state/store/embedded/embedded_filter_follower.h"
#include "state/store/embedded/store_backup.h"
#include "state/store/stored_union.h"
#include "tests/state/store/filter_store_beds.h"
#include "tests/support/instrumented.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

const PeriodIndex kPeriod(kNow);

std::vector<ItemHash> some_items(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<ItemHash> items;
  for (size_t n = 0; n < count; ++n) items.push_back(ItemHash(random()));
  return items;
}

void apply(LocalFilterStore& store, const std::string& key, std::span<const ItemHash> items) {
  const FilterUpdate update{key, kPeriod, items};
  REQUIRE(store.apply({&update, 1}).to_string() == "ok");
}

StoredFilter only_filter(LocalFilterReader& store, const std::string& key) {
  std::vector<StoredFilter> filters;
  REQUIRE(store.read(key, {&kPeriod, 1}, filters).to_string() == "ok");
  REQUIRE(filters.size() == 1);
  return filters[0];
}

filter::Summary summary_of(const StoredFilter& filter) {
  const auto summary = filter::summarize(filter.value, filter.store_key);
  REQUIRE(summary.status().to_string() == "ok");
  return *summary;
}

uint64_t found(const StoredFilter& filter, const std::string& key, std::span<const ItemHash> items) {
  filter::Query query;
  REQUIRE(query.add(filter.value, filter.store_key).ok());
  std::vector<uint8_t> answers(items.size());
  query.run(items, key, answers);
  return static_cast<uint64_t>(std::ranges::count_if(answers, [](uint8_t a) { return a != filter::Query::kUnseen; }));
}

}  // namespace

TEST_CASE("filter store: millions of plays of a user in a period are one value of known size and error") {
  constexpr size_t kPerUpdate = 20'000;
  const int updates = rounds(100);  // Two million plays.
  EmbeddedBed bed;
  const std::string key = user("u1");
  for (int n = 0; n < updates; ++n) apply(bed.store(), key, some_items(n, kPerUpdate));
  const uint64_t plays = static_cast<uint64_t>(updates) * kPerUpdate;
  CHECK(found(only_filter(bed.store(), key), key, some_items(0, kPerUpdate)) == kPerUpdate);  // Of many operands.
  bed.settle();
  const StoredFilter filter = only_filter(bed.store(), key);
  const filter::Summary summary = summary_of(filter);
  CHECK(summary.form == filter::Summary::Form::kDense);
  CHECK(summary.items <= plays);
  CHECK(summary.items > plays * 99 / 100);
  CHECK(filter.value.size() <= 3 * plays);
  for (int n = 0; n < updates; ++n) REQUIRE(found(filter, key, some_items(n, kPerUpdate)) == kPerUpdate);

  constexpr size_t kOthers = 400'000;
  const double expected = summary.expected_error * kOthers;
  const auto wrong = static_cast<double>(found(filter, key, some_items(1'000'000, kOthers)));
  INFO(filter.value.size() << " bytes, " << wrong << " found, " << expected << " expected");
  CHECK(std::abs(wrong - expected) <= 6 * std::sqrt(expected) + 6);
}

TEST_CASE("follower: it reads the dense value that the writer has, and what is added to it") {
  EmbeddedBed bed;
  const std::string key = user("u1");
  apply(bed.store(), key, some_items(1, 5'000));
  bed.merge_to_now();
  auto follower = EmbeddedFilterFollower::follow(bed.config(), bed.calendar, bed.clock, bed.memory());
  REQUIRE(follower.ok());
  const size_t before = only_filter(**follower, key).value.size();
  CHECK(only_filter(**follower, key).value == only_filter(bed.store(), key).value);
  apply(bed.store(), key, some_items(2, 5'000));
  bed.settle();
  bed.merge_to_now();
  REQUIRE((*follower)->refresh().to_string() == "ok");
  const StoredFilter filter = only_filter(**follower, key);
  CHECK(filter.value == only_filter(bed.store(), key).value);
  CHECK(filter.value.size() > before);
  CHECK(summary_of(filter).form == filter::Summary::Form::kDense);
}

TEST_CASE("store backup: a dense value comes back as it was") {
  EmbeddedBed bed;
  const std::string key = user("u1");
  apply(bed.store(), key, some_items(1, 5'000));
  const StoredFilter before = only_filter(bed.store(), key);
  REQUIRE(summary_of(before).form == filter::Summary::Form::kDense);
  const std::string backups = bed.folder / "backups";
  const auto taken = bed.embedded().back_up({backups, 24});
  REQUIRE(taken.status().to_string() == "ok");
  apply(bed.store(), key, some_items(2, 5'000));
  EmbeddedFilterStoreConfig config = bed.config();
  config.path = bed.folder / "restored";
  REQUIRE(restore_backup(backups, taken->id, config.path).status().to_string() == "ok");
  auto restored = EmbeddedFilterStore::open(config, bed.calendar, bed.clock, bed.memory());
  REQUIRE(restored.ok());
  CHECK(only_filter(**restored, key).value == before.value);
}

TEST_CASE("stored union: damage leaves a dense value whole, and it goes on growing") {
  const std::string user_key = user("u1");
  const std::string key = filter_key(user_key, PeriodUnit::kMonth, kPeriod);
  const auto made = [&](uint64_t seed) { return filter::make(some_items(seed, 5'000), user_key, key, {}); };
  const auto unite = [&](const std::vector<std::string>& values) {
    const std::vector<std::string_view> views(values.begin(), values.end());
    return unite_stored(views, key, {}, false).value;
  };
  const std::string damaged = unite({unite({made(1)}), "garbage", made(2)});
  Damage damage;
  CHECK(open_damaged(damaged, damage) == unite({made(1), made(2)}));
  CHECK(damage.refused == 1);
  const std::string grown = unite({damaged, made(3)});
  const StoredFilter good{kPeriod, key, std::string(open_damaged(grown, damage))};
  CHECK(good.value == unite({made(1), made(2), made(3)}));
  CHECK(summary_of(good).form == filter::Summary::Form::kDense);
}
