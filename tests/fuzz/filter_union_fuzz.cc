// Two values and a policy from any bytes: a union of what is accepted is commutative, idempotent, accepted itself,
// and loses nothing.
#include "tests/fuzz/filter_input.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

std::string united(std::span<const std::string_view> values, const Policy& policy, bool closed) {
  auto result = unite(values, kFuzzKey, policy, closed);
  BLOOMRING_CHECK(result.ok(), "values that were accepted unite");
  BLOOMRING_CHECK(summarize(result.value(), kFuzzKey).ok(), "a union is a value");
  return std::move(result).value();
}

}  // namespace

// policy (3 bytes), length of the first value (2 bytes), both values without checksums.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) return 0;
  Policy policy;
  policy.false_positive_rate = 0.1 / (1 + data[0]);
  policy.periods_read = 1 + data[1] % 64;
  policy.dense_from_items = data[2] % 128;
  const bool closed = data[2] >= 128;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 5, size - 5);
  const size_t first_bytes = std::min<size_t>(rest.size(), data[3] | data[4] << 8);
  const std::string a = signed_value(rest.substr(0, first_bytes));
  const std::string b = signed_value(rest.substr(first_bytes));
  const std::string_view ab[] = {a, b};
  const std::string_view ba[] = {b, a};
  const std::string_view aba[] = {a, b, a};
  if (!summarize(a, kFuzzKey).ok() || !summarize(b, kFuzzKey).ok()) {
    (void)unite(ab, kFuzzKey, policy, closed);
    return 0;
  }
  const std::string both = united(ab, policy, closed);
  BLOOMRING_CHECK(united(ba, policy, closed) == both, "commutative");
  BLOOMRING_CHECK(united(aba, policy, closed) == both, "idempotent");
  expect_covers(both, a);
  expect_covers(both, b);
  auto operands = unite_operands(ab, kFuzzKey);
  BLOOMRING_CHECK(operands.ok(), "operands unite");
  expect_covers(operands.value(), a);
  return 0;
}
