#include <algorithm>
#include <random>

#include "tests/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

void expect_holds(const std::string& value, const std::vector<ItemHash>& all) {
  const auto found = ask({value}, all);
  REQUIRE(std::count(found.begin(), found.end(), Query::kUnseen) == 0);
}

// Sparse, dense, folded, two sets, an operand, and values of another policy: all of the same user and key.
std::vector<std::pair<std::string, std::vector<ItemHash>>> every_form() {
  Policy dense;
  dense.dense_from_items = 0;
  Policy strict;
  strict.periods_read = 12;
  const std::string folded = united({united({operand(items(0, 300))})}, {}, true);
  return {
      {operand(items(0, 5)), items(0, 5)},
      {united({operand(items(3, 40))}), items(3, 40)},
      {united({operand(items(20, 900))}, dense), items(20, 900)},
      {united({operand(items(100, 7000))}), items(100, 7000)},
      {folded, items(0, 300)},
      {united({folded, operand(items(300, 900))}, {}, true), items(0, 900)},
      {united({folded, operand(items(300, 900))}, dense, true), items(0, 900)},
      {united({operand(items(50, 500), strict)}, strict), items(50, 500)},
      {operand(items(0, 2000), strict), items(0, 2000)},
  };
}

}  // namespace

TEST_CASE("filter union: the same set gives the same bytes, whatever the order, batching and repetition") {
  std::mt19937_64 random(4);
  for (const uint64_t count : {1, 2, 16, 17, 100, 1000, 4095, 4096, 9000}) {
    std::vector<ItemHash> all = items(0, count);
    const std::string once = united({operand(all)});
    std::shuffle(all.begin(), all.end(), random);
    std::string stored;
    for (size_t at = 0; at < all.size();) {
      const size_t batch = 1 + random() % 200;
      const size_t begin = at - std::min<size_t>(at, random() % 3);  // Some are added again.
      at = std::min(all.size(), at + batch);
      const std::string more = operand({all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(at)});
      stored = stored.empty() ? united({more})
                              : united(random() % 2 != 0 ? std::vector{stored, more} : std::vector{more, stored});
    }
    CHECK(stored == once);
    CHECK(united({stored, operand({all[0]})}) == once);  // Nothing new: need not be written.
  }
}

TEST_CASE("filter union: any two values unite, commutatively and idempotently, and nothing is lost") {
  const auto forms = every_form();
  for (const bool closed : {false, true}) {
    for (const auto& [a, items_of_a] : forms) {
      const std::string alone = united({a}, {}, closed);
      CHECK(united({alone, alone}, {}, closed) == united({alone}, {}, closed));
      for (const auto& [b, items_of_b] : forms) {
        const std::string both = united({a, b}, {}, closed);
        CHECK(united({b, a}, {}, closed) == both);
        CHECK(united({a, b, a}, {}, closed) == both);
        expect_holds(both, items_of_a);
        expect_holds(both, items_of_b);
        CHECK(summary_of(both).expected_error <= Policy{}.false_positive_rate / Policy{}.periods_read);
      }
    }
  }
}

TEST_CASE("filter union: it is associative for the values of an open period") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> parts;
    for (int i = 0; i < 3; ++i) {
      const uint64_t begin = random() % 3000;
      const std::string part = operand(items(begin, begin + 1 + random() % 3000));
      parts.push_back(random() % 2 != 0 ? part : united({part}));
    }
    const std::string all = united(parts);
    CHECK(united({united({parts[0], parts[1]}), parts[2]}) == all);
    CHECK(united({parts[0], united({parts[1], parts[2]})}) == all);
  }
}

TEST_CASE("filter union: operands that met each other first give the same value") {
  std::vector<std::string> operands;
  for (uint64_t i = 0; i < 50; ++i) operands.push_back(operand(items(i * 3, i * 3 + 5)));
  const std::vector<std::string_view> views(operands.begin(), operands.end());
  auto partial = unite_operands(views, kKey);
  REQUIRE(partial.ok());
  CHECK(summary_of(partial.value()).width_bits == 32);  // Still all that a heavy user's value may need.
  CHECK(united({partial.value()}) == united(operands));
}

TEST_CASE("filter union: a value past its planned size takes a second set and stays within the budget") {
  const std::string stored = united({operand(items(0, 131'000))});
  CHECK(summary_of(stored).sets == 1);
  const std::string grown = united({stored, operand(items(131'000, 140'000))});
  const Summary summary = summary_of(grown);
  CHECK(summary.sets == 2);
  CHECK(summary.width_bits == 26);
  CHECK_FALSE(summary.saturated);
  CHECK(summary.expected_error <= 0.0025);
  CHECK(static_cast<double>(summary.bytes) * 8 / static_cast<double>(summary.items) <= 24.0);
  expect_holds(grown, items(0, 140'000));
  CHECK(united({grown, operand(items(100'000, 139'000))}) == grown);
}

TEST_CASE("filter union: a value that its policy cannot hold within the budget says that it is saturated") {
  const std::string stored = united({operand(items(0, 5000))});
  Policy strict;
  strict.false_positive_rate = 1e-5;
  CHECK_FALSE(summary_of(stored).saturated);
  const std::string narrowed = united({stored}, strict);
  CHECK(summary_of(narrowed).saturated);
  Query query;
  REQUIRE(query.add(narrowed, kKey).ok());
  CHECK(query.saturated());
}

TEST_CASE("filter union: a closed period folds when it has come to rest, and takes late items without error") {
  const std::string open = united({operand(items(0, 3000))});
  CHECK_FALSE(summary_of(united({operand(items(0, 3000))}, {}, true)).folded);  // All of it is new.
  const std::string folded = united({open, operand(items(3000, 3100))}, {}, true);
  const Summary summary = summary_of(folded);
  CHECK(summary.folded);
  CHECK(summary.width_bits == 21);  // ceil(log2(3100)) + 9
  CHECK(summary.expected_error <= 1.0 / 512);
  const std::string late = united({folded, operand(items(4000, 6000))}, {}, true);
  CHECK(summary_of(late).sets == 2);
  CHECK(summary_of(late).expected_error <= 0.0025);
  expect_holds(late, items(0, 3100));
  expect_holds(late, items(4000, 6000));
}
