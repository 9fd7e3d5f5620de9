// Unions whose bytes are golden: each case of the rule that docs/formats.md states, and what chance makes of it.
// tests/formats/test_page.py computes the same bytes from that page.
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "base/words.h"
#include "tests/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

const Policy kDefault;
const Policy kMany{0.2, 31, 4096};
const Policy kStrict{1e-6, 4, 4096};
const Policy kDense{0.01, 31, 24};
const Policy kPolicies[] = {kDefault, kMany, kStrict, kDense};

struct Case {
  std::string name;
  std::vector<std::string> values;
  const Policy* policy = &kDefault;  // Null: a union of operands.
  bool closed = false;
};

std::string by(const Policy& policy, uint64_t begin, uint64_t end) { return operand(items(begin, end), policy); }

std::string folded(uint64_t begin, uint64_t end, const Policy& policy = kDefault) {
  return united({united({by(policy, begin, end)}, policy)}, policy, true);
}

std::string of_operands(const std::vector<std::string>& values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  return unite_operands(views, kKey).value();
}

std::vector<Case> named_cases() {
  const std::string stored = united({by(kDefault, 0, 20)});
  const std::string two_sets = united({folded(0, 16), by(kDefault, 16, 20)}, {}, true);
  return {
      {"operands of an open period", {by(kDefault, 0, 9), by(kDefault, 5, 14)}},
      {"an operand onto a stored value", {stored, by(kDefault, 20, 24)}},
      {"nothing new", {stored, by(kDefault, 3, 8), stored}},
      {"20 % over 31 periods", {by(kMany, 0, 9)}, &kMany},
      {"a millionth over 4 periods", {by(kStrict, 0, 9)}, &kStrict},
      {"dense from 24 items on", {by(kDense, 0, 20), by(kDense, 20, 28)}, &kDense},
      {"the first union of a closed period", {by(kDefault, 0, 20)}, &kDefault, true},
      {"a closed period at rest folds", {stored}, &kDefault, true},
      {"an eighth is new: it folds", {stored, by(kDefault, 20, 22)}, &kDefault, true},
      {"more than an eighth is new: it does not fold", {stored, by(kDefault, 20, 26)}, &kDefault, true},
      {"late items stay wide", {folded(0, 16), by(kDefault, 16, 20)}, &kDefault, true},
      {"late items stay wide in an open period, too", {folded(0, 16), by(kDefault, 16, 20)}},
      {"few late items are folded in", {folded(0, 12), by(kDefault, 12, 13)}, &kDefault, true},
      {"two sets and an operand that both cover", {two_sets, by(kDefault, 3, 18)}, &kDefault, true},
      {"two sets come to rest", {two_sets, two_sets}, &kDefault, true},
      {"stored under two policies", {stored, united({by(kMany, 10, 30)}, kMany)}},
      {"stored under two policies, folded", {folded(0, 16), folded(8, 24, kStrict)}, &kStrict},
      {"an operand narrower than what is stored", {united({by(kStrict, 0, 9)}, kStrict), by(kMany, 6, 12)}},
      {"saturated under a stricter policy", {folded(0, 16), by(kDefault, 16, 20)}, &kStrict},
      {"of operands", {by(kDefault, 0, 9), by(kMany, 5, 14)}, nullptr},
      {"of operands, one of them a stored value", {by(kDefault, 0, 9), folded(5, 14)}, nullptr},
      {"of operands and stored values", {by(kDefault, 0, 9), stored, united({by(kMany, 8, 14)}, kMany)}, nullptr},
  };
}

// The generator is specified by the standard, and used without a distribution: the same cases everywhere.
std::vector<Case> random_cases() {
  std::mt19937 random(1);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random()) % bound; };
  std::vector<Case> cases;
  while (cases.size() < 60) {
    Case made{"random " + std::to_string(cases.size()), {}, &kPolicies[below(4)], below(2) == 0};
    if (below(8) == 0) made.policy = nullptr;
    for (uint32_t left = 1 + below(4); left > 0; --left) {
      const Policy& policy = kPolicies[below(4)];
      const uint32_t begin = below(40);
      const uint32_t end = begin + 1 + below(20);
      const uint32_t form = below(4);
      std::string value = form == 0 ? folded(begin, end, policy) : by(policy, begin, end);
      if (form == 1) value = united({value}, policy);
      if (form == 2) value = of_operands({value, folded(begin + 5, end + 5, kPolicies[below(4)])});
      made.values.push_back(value);
    }
    cases.push_back(made);
  }
  return cases;
}

// name, key, false positive rate, periods read, dense from items, closed, values, union; the settings are empty for a
// union of operands. Tab separated.
std::string golden_text() {
  std::ostringstream out;
  std::vector<Case> cases = named_cases();
  for (Case& made : random_cases()) cases.push_back(std::move(made));
  for (const Case& made : cases) {
    out << made.name << "\t" << kKey << "\t";
    if (made.policy != nullptr) {
      out << made.policy->false_positive_rate << "\t" << made.policy->periods_read << "\t"
          << made.policy->dense_from_items;
    } else {
      out << "\t\t";
    }
    out << "\t" << made.closed << "\t";
    for (size_t i = 0; i < made.values.size(); ++i) out << (i == 0 ? "" : ",") << hex(made.values[i]);
    out << "\t"
        << hex(made.policy == nullptr ? of_operands(made.values) : united(made.values, *made.policy, made.closed))
        << "\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("filter union: the bytes of each case of the rule are golden") {
  const std::string path = BLOOMRING_UNION_GOLDEN;
  if (std::getenv("BLOOMRING_WRITE_GOLDEN") != nullptr) std::ofstream(path) << golden_text();
  std::stringstream stored;
  stored << std::ifstream(path).rdbuf();
  CHECK(stored.str() == golden_text());
}

TEST_CASE("filter union: the bytes of a closed period of more items than planned are golden by their hash") {
  const std::string first = united({operand(items(0, 140'000))}, {}, true);
  CHECK(hash_bytes(first, 0) == 0xef1b148dfdebfbe9ULL);
}
