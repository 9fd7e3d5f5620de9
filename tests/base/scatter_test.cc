#include "base/scatter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <unordered_set>
#include <vector>

namespace bloomring {
namespace {

constexpr size_t kHashes = 50'000;
constexpr size_t kBins = 1 << 16;

// Hashes that share all but 16 bits; those are at `shift`.
std::vector<uint64_t> alike(unsigned shift) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < kHashes; ++i) hashes.push_back(i << shift | (0x5a5a5a5 & ((uint64_t{1} << shift) - 1)));
  return hashes;
}

// How many hashes are in the fullest bin, when the lowest bits of `place` choose it.
template <typename Place>
uint32_t fullest_bin(const std::vector<uint64_t>& hashes, const Place& place) {
  std::vector<uint32_t> bins(kBins);
  for (const uint64_t hash : hashes) ++bins[place(hash) % kBins];
  return *std::ranges::max_element(bins);
}

ScatterSecrets random_secrets(std::mt19937_64& random) { return {random(), random() | 1, random() | 1}; }

}  // namespace

// Of 50,000 random places in 65,536 bins the fullest bin gets 7 or 8; 13 once in 500,000 times.
TEST_CASE("scatter: hashes that share all bits but a few are spread like random numbers, by low bits and by high") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    const ScatterSecrets secrets = random_secrets(random);
    for (unsigned shift = 0; shift <= 48; shift += 4) {
      const std::vector<uint64_t> hashes = alike(shift);
      CHECK(fullest_bin(hashes, [&](uint64_t hash) { return scatter(hash, 0, secrets); }) <= 13);
      CHECK(fullest_bin(hashes, [&](uint64_t hash) { return scatter(hash, 0, secrets) >> 48; }) <= 13);
    }
  }
}

TEST_CASE("scatter: with one round instead of two, some random numbers leave the hashes together") {
  std::mt19937_64 random(1);
  uint32_t fullest_of_one = 0, fullest_of_two = 0;
  const std::vector<uint64_t> hashes = alike(28);
  for (int round = 0; round < 200; ++round) {
    const ScatterSecrets secrets = random_secrets(random);
    const auto once = [&](uint64_t hash) { return folded_product(hash ^ secrets.mask, secrets.first); };
    fullest_of_one = std::max(fullest_of_one, fullest_bin(hashes, once));
    fullest_of_two = std::max(
        fullest_of_two, fullest_bin(hashes, [&](uint64_t hash) { return scatter(hash, 0, secrets); }));
  }
  CHECK(fullest_of_one > 2 * fullest_of_two);
  CHECK(fullest_of_two <= 13);
}

TEST_CASE("scatter: places are those of this process, the same at each call, and others than those of other numbers") {
  std::mt19937_64 random(1);
  const ScatterSecrets others = random_secrets(random);
  int same = 0;
  for (uint64_t hash = 0; hash < 1'000; ++hash) {
    CHECK(scatter(hash) == scatter(hash));
    same += scatter(hash) == scatter(hash, 0, others) ? 1 : 0;
    CHECK(scatter(hash, 1) != scatter(hash, 2));
  }
  CHECK(same == 0);
  const ScatterSecrets drawn = draw_scatter_secrets(), again = draw_scatter_secrets();
  CHECK(drawn.mask != again.mask);
  CHECK(drawn.first != again.first);
  CHECK((drawn.first & drawn.second & 1) == 1);
}

TEST_CASE("scatter: the longest search is that of the key which lies furthest behind its home, also around the end") {
  const std::vector<int> homes = {2, -1, 2, 2};  // By place; -1 is free.
  CHECK(longest_probe(
            homes.size(), [&](size_t place) { return homes[place] >= 0; },
            [&](size_t place) { return static_cast<size_t>(homes[place]); }) == 3);
  std::unordered_set<uint64_t, Scattered> few = {1, 2, 3};
  CHECK(longest_bucket(few) >= 1);
  CHECK(longest_bucket(few) <= 3);
}

}  // namespace bloomring
