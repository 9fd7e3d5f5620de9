#include "filter/stored_bytes.h"

#include <random>

#include "tests/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

std::string stored(const std::vector<ItemHash>& of, bool closed, const Policy& policy = {}) {
  const std::string open = united({operand(of, policy)}, policy);
  return closed ? united({open}, policy, true) : open;
}

}  // namespace

TEST_CASE("stored bytes: the length of an operand is known from its number of items") {
  for (const uint64_t count : {1, 2, 3, 4, 12, 20, 50, 127, 128, 129, 1000, 5000}) {
    INFO(count);
    CHECK(operand_bytes(count, {}) == operand(items(0, count)).size());
  }
}

TEST_CASE("stored bytes: the length of a value of an open period is known from its number of items") {
  // 26 bits: below 1,000 items two of them coincide in one set of 130.
  for (const uint64_t count : {1, 2, 16, 100, 127, 128, 600}) {
    INFO(count);
    CHECK(stored_bytes(count, {}, false) == stored(items(0, count), false).size());
  }
  for (const uint64_t count : {3000, 4095, 4200, 10'000, 30'000, 100'000, 131'072}) {
    INFO(count);
    const auto measured = static_cast<double>(stored(items(0, count), false).size());
    CHECK(static_cast<double>(stored_bytes(count, {}, false)) == Approx(measured).epsilon(0.001));
  }
}

TEST_CASE("stored bytes: the length of a folded value is known from its number of items, but for chance") {
  for (const uint64_t count : {16, 100, 1000, 3000, 10'000, 30'000, 100'000}) {
    INFO(count);
    const auto measured = static_cast<double>(stored(items(0, count), true).size());
    CHECK(static_cast<double>(stored_bytes(count, {}, true)) == Approx(measured).epsilon(0.005));
    // 100,000 items need all bits that they have.
    if (count > 16 && count < 100'000) CHECK(stored_bytes(count, {}, true) < stored_bytes(count, {}, false));
  }
}

TEST_CASE("stored bytes: a value with more items than planned has two sets, open and closed alike") {
  const uint64_t count = 200'000;
  const std::string grown = united({united({operand(items(0, 131'000))}), operand(items(131'000, count))});
  REQUIRE(summary_of(grown).sets == 2);
  const auto measured = static_cast<double>(grown.size());
  CHECK(static_cast<double>(stored_bytes(count, {}, false)) == Approx(measured).epsilon(0.001));
  CHECK(stored_bytes(count, {}, true) == stored_bytes(count, {}, false));
}

TEST_CASE("stored bytes: the policy counts: its error, its periods, and the number of items of dense values") {
  for (const Policy& policy : {Policy{.false_positive_rate = 0.001}, Policy{.periods_read = 12},
                               Policy{.dense_from_items = 0}, Policy{.dense_from_items = 100'000}}) {
    for (const uint64_t count : {16, 1000, 8000}) {
      INFO(count << " items, " << policy.false_positive_rate << " " << policy.dense_from_items);
      const auto measured = static_cast<double>(stored(items(0, count), false, policy).size());
      // One item that coincides may cost a block of the index.
      CHECK(static_cast<double>(stored_bytes(count, policy, false)) ==
            Approx(measured).epsilon(0.001).margin(kBlockBytes + 1));
    }
  }
}

// The length of every shape that the format allows, not only of those that the ladder chooses.
TEST_CASE("stored bytes: a value has the length that its parts say") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Parts parts;
    parts.narrow_width_bits = 14 + static_cast<uint32_t>(random() % 13);
    parts.wide_width_bits = parts.narrow_width_bits + 1 + static_cast<uint32_t>(random() % 10);
    const auto fill = [&](Fingerprints& set, uint32_t width_bits, uint64_t count) {
      std::set<uint64_t> distinct;
      while (distinct.size() < count) distinct.insert(random() & low_mask(width_bits));
      set.assign(distinct.begin(), distinct.end());
    };
    fill(parts.narrow, parts.narrow_width_bits, random() % 3 == 0 ? 0 : 1 + random() % 3000);
    fill(parts.wide, parts.wide_width_bits, parts.narrow.empty() || random() % 2 == 0 ? 1 + random() % 300 : 0);
    parts.index = random() % 2 == 0;
    const PartSizes sizes{parts.narrow.size(), parts.narrow_width_bits, parts.wide.size(), parts.wide_width_bits,
                          parts.index};
    CHECK(assembled_bytes(sizes) == assemble(parts, kKey).size());
  }
}
