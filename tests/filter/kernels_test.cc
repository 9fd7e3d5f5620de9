#include "filter/kernels.h"

#include <random>

#include "tests/filter/filter_fixture.h"
#include "tests/support/instrumented.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

std::vector<uint8_t> ask_with(Query::Simd simd, const std::vector<std::string>& filters,
                              const std::vector<ItemHash>& candidates) {
  Query query(simd);
  for (const std::string& filter : filters) REQUIRE(query.add(filter, kKey).ok());
  std::vector<uint8_t> found(candidates.size(), 7);
  query.run(candidates, kUser, found);
  return found;
}

// Filters of one user in every form, sizes and widths mixed.
std::vector<std::string> random_filters(std::mt19937_64& random) {
  std::vector<std::string> filters;
  for (uint64_t count = 1 + random() % 9; count > 0; --count) {
    Policy policy;
    const uint64_t choice = random() % 4;
    policy.dense_from_items = choice == 0 ? 0 : choice == 1 ? 100 : 100'000;
    policy.false_positive_rate = random() % 4 == 0 ? 1e-6 : 0.01;  // Up to 42 and 46 bits wide.
    const uint64_t begin = random() % 10'000;
    const uint64_t size = uint64_t{1} << random() % 12;
    std::string value = operand(items(begin, begin + size), policy);
    if (random() % 4 != 0) value = united({value}, policy);
    if (random() % 3 == 0) {
      value = united({value}, policy, true);
      if (random() % 2 == 0)
        value = united({value, operand(items(begin + size, begin + size * 2), policy)}, policy, true);
    }
    filters.push_back(value);
  }
  return filters;
}

}  // namespace

TEST_CASE("filter query: AVX2 and the portable code give the same answers on every form") {
  if (avx2_kernels() == nullptr) WARN("no AVX2 here: only the portable code is tested");
  std::mt19937_64 random(6);
  const std::vector<ItemHash> candidates = items(0, 20'003);
  for (int round = 0; round < rounds(150); ++round) {
    const std::vector<std::string> filters = random_filters(random);
    const auto best = ask_with(Query::Simd::kBest, filters, candidates);
    REQUIRE(best == ask_with(Query::Simd::kNone, filters, candidates));
    // Together they say what each says alone.
    std::vector<uint8_t> expected(candidates.size(), Query::kUnseen);
    for (size_t f = filters.size(); f-- > 0;) {
      const auto alone = ask_with(Query::Simd::kBest, {filters[f]}, candidates);
      for (size_t c = 0; c < candidates.size(); ++c) {
        if (alone[c] == 0) expected[c] = static_cast<uint8_t>(f);
      }
    }
    REQUIRE(best == expected);
  }
}
