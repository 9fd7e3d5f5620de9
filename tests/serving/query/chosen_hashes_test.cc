// Users and items whose ids were chosen so that their hashes are alike: they are found as fast as others.
#include <catch2/catch.hpp>
#include <unordered_set>

#include "serving/query/filter_cache.h"
#include "serving/query/item_times.h"
#include "serving/query/play_table.h"
#include "serving/query/recent_plays.h"
#include "serving/query/served_items.h"

namespace bloomring {
namespace {

constexpr uint64_t kHashes = 50'000;
constexpr int64_t kTimeMs = 1'795'248'000'000;

// In a table of open addressing that is less than half full, the longest search of 50,000 random places reads about 30,
// and 100 once in 10^10 times.
constexpr size_t kProbesMax = 100;
// Of a standard container: 7 or 8 keys in a bucket, and 16 once in 10^9 times.
constexpr size_t kBucketMax = 16;

// Hashes that share all but 16 bits.
std::vector<uint64_t> share_bits(unsigned shift) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < kHashes; ++i) hashes.push_back(i << shift | 5);
  return hashes;
}

// Hashes of one stripe that a standard container of them would have in one bucket.
std::vector<uint64_t> share_bucket() {
  std::unordered_set<uint64_t> as_many;
  for (uint64_t i = 0; i < kHashes; ++i) as_many.insert(i);
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < kHashes; ++i) hashes.push_back(i * as_many.bucket_count());
  return hashes;
}

}  // namespace

TEST_CASE("chosen hashes: a table of plays finds each user in a few steps") {
  for (const unsigned shift : {0, 20, 28, 40}) {
    PlayTable table;
    for (const uint64_t hash : share_bits(shift)) table.insert(hash, ItemHash(1), kTimeMs);
    CHECK(table.longest_search() < kProbesMax);
  }
}

// 64 tables of 2,048 slots each, 46 % full: about 40, and 150 once in 10^10 times.
TEST_CASE("chosen hashes: the many plays of a user find each item in a few steps") {
  for (const unsigned shift : {0, 20, 28, 40}) {
    ItemTimes items;
    for (uint64_t i = 0; i < 60'000; ++i) items.insert(ItemHash(i << shift | 5), kTimeMs);
    CHECK(items.longest_search() < 150);
    CHECK(items.find(ItemHash(7'000ull << shift | 5)) == kTimeMs);
    CHECK(items.find(ItemHash(60'000ull << shift | 5)) == ItemTimes::kNever);
  }
}

TEST_CASE("chosen hashes: served items find each user in a few steps") {
  ServedItems served({});
  for (const uint64_t hash : share_bucket()) served.add(hash, ItemHash(1), kTimeMs);
  CHECK(served.stats().users == kHashes);
  CHECK(served.longest_search() < kBucketMax);
}

TEST_CASE("chosen hashes: forgets of recent plays find each user in a few steps") {
  RecentPlays plays({}, Calendar::create({}).value(), Offset(0));
  for (const uint64_t hash : share_bucket()) plays.note_forget(hash, true, ItemHash(0), kTimeMs, Offset(0));
  CHECK(plays.stats().forgets == kHashes);
  CHECK(plays.longest_search() < kBucketMax);
}

TEST_CASE("chosen hashes: cached filters find each user in a few steps") {
  FilterCache cache(size_t{1} << 30);
  const std::vector<uint64_t> hashes = share_bucket();
  for (size_t i = 0; i < hashes.size(); ++i)
    cache.put({"u" + std::to_string(i), hashes[i]}, std::make_shared<UserFilters>());
  CHECK(cache.stats().entries == kHashes);
  CHECK(cache.longest_search() < kBucketMax);
}

// Users are told apart by their keys where hashes are equal.
TEST_CASE("chosen hashes: users with the same hash have filters of their own") {
  FilterCache cache(1 << 20);
  cache.put({"u1", 7}, std::make_shared<UserFilters>(UserFilters{{}, {}, Offset(1)}));
  cache.put({"u2", 7}, std::make_shared<UserFilters>(UserFilters{{}, {}, Offset(2)}));
  CHECK(cache.find({"u1", 7}, {}, Offset(0))->merged == Offset(1));
  CHECK(cache.find({"u2", 7}, {}, Offset(0))->merged == Offset(2));
  CHECK(cache.find({"u3", 7}, {}, Offset(0)) == nullptr);
}

}  // namespace bloomring
