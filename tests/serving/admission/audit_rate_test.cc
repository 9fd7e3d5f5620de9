#include "serving/admission/audit_rate.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {
constexpr int64_t kSecondNs = 1'000'000'000, kBeginNs = 5 * kSecondNs / 2;
}

TEST_CASE("audit rate: what is denied now and then has a line each") {
  AuditRate rate;
  for (int i = 0; i < 30; ++i) CHECK(rate.line_at(kBeginNs + i * kSecondNs / 10) == 0);
}

TEST_CASE("audit rate: of a flood ten a second have a line, and the next line has the number of the others") {
  AuditRate rate;
  for (int i = 0; i < 1'000; ++i) CHECK(rate.line_at(kBeginNs + i).has_value() == (i < 10));
  CHECK_FALSE(rate.line_at(kBeginNs + kSecondNs - 1).has_value());
  CHECK(rate.line_at(kBeginNs + kSecondNs) == 991);
  CHECK(rate.line_at(kBeginNs + kSecondNs) == 0);
}
