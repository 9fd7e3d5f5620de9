#include <algorithm>
#include <random>

#include "tests/state/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

TEST_CASE("filter: what was added is found, in the first filter that holds it") {
  const std::string newer = united({operand(items(0, 1000))});
  const std::string older = united({operand(items(500, 3000))});
  const auto found = ask({newer, older}, items(0, 3000));
  for (size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == (i < 1000 ? 0 : 1));
  const auto unseen = ask({newer, older}, items(10'000, 12'000));
  CHECK(std::count(unseen.begin(), unseen.end(), Query::kUnseen) >= 1998);
}

TEST_CASE("filter: an operand of 4 items has 8 bytes besides its payload") {
  CHECK(operand(items(0, 4)).size() == 8 + 4 * 32 / 8);
  CHECK(united({operand(items(0, 16))}).size() == 8 + 16 * 24 / 8);
}

TEST_CASE("filter: the same set gives the same bytes, whatever the order, batching and repetition") {
  std::mt19937_64 random(4);
  for (const uint64_t count : {1, 2, 16, 17, 100, 1000, 5000}) {
    std::vector<ItemHash> all = items(0, count);
    const std::string once = united({operand(all)});
    std::shuffle(all.begin(), all.end(), random);
    std::string stored;
    for (size_t at = 0; at < all.size();) {
      const size_t batch = 1 + random() % 200;
      const size_t begin = at - std::min<size_t>(at, random() % 3);  // Some are added again.
      at = std::min(all.size(), at + batch);
      const std::string more = operand({all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(at)});
      stored = stored.empty() ? united({more}) : united(random() % 2 != 0 ? std::vector{stored, more} : std::vector{more, stored});
    }
    CHECK(stored == once);
    CHECK(united({stored, stored}) == once);
    CHECK(united({stored, operand({all[0]})}) == once);
  }
}

TEST_CASE("filter: bytes under another key are refused") {
  const std::string value = united({operand(items(0, 10))});
  const auto result = summarize(value, "f:u2:2026-11");
  REQUIRE(!result.ok());
  CHECK(result.code() == Code::kCorrupt);
}
