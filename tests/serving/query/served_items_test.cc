#include "serving/query/served_items.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace bloomring;

namespace {

constexpr uint64_t kUser = 0x123456789abcdef0;
constexpr int64_t kNowMs = 1'795'248'000'000;

std::vector<uint64_t> items_of(const ServedItems& served, int64_t now_ms = kNowMs) {
  std::vector<ServedItem> found;
  served.lookup(kUser, now_ms, found);
  std::vector<uint64_t> items;
  for (const ServedItem& served_item : found) items.push_back(served_item.item.value);
  return items;
}

}  // namespace

TEST_CASE("served items: the 101st makes the first one unseen again") {
  ServedItems served({});
  for (uint64_t i = 0; i < 100; ++i) served.add(kUser, ItemHash(i), kNowMs + static_cast<int64_t>(i));
  CHECK(items_of(served).size() == 100);
  CHECK(items_of(served).back() == 0);
  served.add(kUser, ItemHash(100), kNowMs + 100);
  CHECK(items_of(served).size() == 100);
  CHECK(items_of(served).back() == 1);
}

TEST_CASE("served items: an item served again counts once, at its newest time") {
  ServedItems served({.per_user_max = 2});
  served.add(kUser, ItemHash(1), kNowMs);
  served.add(kUser, ItemHash(2), kNowMs + 1);
  served.add(kUser, ItemHash(1), kNowMs + 2);
  served.add(kUser, ItemHash(3), kNowMs + 3);
  CHECK(items_of(served) == std::vector<uint64_t>{3, 1});
}

TEST_CASE("served items: order of arrival and repeats do not change what is kept") {
  std::vector<std::pair<uint64_t, int64_t>> events;
  for (uint64_t i = 0; i < 300; ++i) events.emplace_back(i % 200, kNowMs + static_cast<int64_t>(i));
  ServedItems in_order({});
  for (const auto& [item, time_ms] : events) in_order.add(kUser, ItemHash(item), time_ms);
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(events.begin(), events.end(), random);
    ServedItems shuffled({});
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const auto& [item, time_ms] : events) shuffled.add(kUser, ItemHash(item), time_ms);
    }
    CHECK(items_of(shuffled) == items_of(in_order));
  }
}

TEST_CASE("served items: what is older than the age limit is unseen at once and freed by and by") {
  ServedItems served({.age_max_ms = 1'000});
  served.add(kUser, ItemHash(1), kNowMs);
  served.add(kUser, ItemHash(2), kNowMs + 500);
  CHECK(items_of(served, kNowMs + 1'000).size() == 2);
  CHECK(items_of(served, kNowMs + 1'001) == std::vector<uint64_t>{2});
  for (int sweep = 0; sweep < 32; ++sweep) served.expire(kNowMs + 1'501);
  CHECK(served.stats().users == 0);
  CHECK(served.stats().items == 0);
}

TEST_CASE("served items: beyond the bound of bytes the oldest go first, and it is counted") {
  ServedItems served({.age_max_ms = 100'000, .bytes_max = 32 * 2'000});
  for (uint64_t user = 0; user < 1'000; ++user) {
    const uint64_t hash = user * 0x9e3779b97f4a7c15ULL;
    served.add(hash, ItemHash(user), kNowMs + static_cast<int64_t>(user * 100));
  }
  CHECK(served.stats().bytes > 32 * 2'000);
  for (int sweep = 0; sweep < 32; ++sweep) served.expire(kNowMs + 100'000);
  CHECK(served.stats().bytes <= 32 * 2'000);
  CHECK(served.stats().users > 100);
  CHECK(served.stats().shortened > 0);
}
