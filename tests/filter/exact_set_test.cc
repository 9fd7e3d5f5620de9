#include "filter/exact_set.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace bloomring {

TEST_CASE("exact set: each candidate gets the first tag of its item, or none") {
  std::mt19937_64 random(3);
  ExactSet set;
  for (int round = 0; round < 20; ++round) {
    std::map<uint64_t, uint8_t> expected;
    set.reset(1'000);
    for (int i = 0; i < 1'000; ++i) {
      const uint64_t item = random() % 2'000 << (round * 2);
      const auto tag = static_cast<uint8_t>(1 + random() % 4);
      set.insert(ItemHash(item), tag);
      expected.emplace(item, tag);
    }
    std::vector<ItemHash> candidates;
    for (uint64_t i = 0; i < 2'000; ++i) candidates.push_back(ItemHash(i << (round * 2)));
    std::vector<uint8_t> tags(candidates.size());
    set.find(candidates, tags);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto held = expected.find(candidates[i].value);
      REQUIRE(tags[i] == (held == expected.end() ? ExactSet::kAbsent : held->second));
    }
  }
}

// 131,072 slots: of random ones the longest search reads about 30, and 100 once in 10^10 times.
TEST_CASE("exact set: items whose hashes share bits, whichever, are found as fast as others") {
  for (const unsigned shift : {0, 12, 28, 44}) {
    ExactSet set;
    set.reset(50'000);
    for (uint64_t i = 0; i < 50'000; ++i) set.insert(ItemHash(i << shift | 5), 1);
    CHECK(set.longest_search() < 100);
  }
}

}  // namespace bloomring
