#include "base/result.h"

#include <catch2/catch.hpp>
#include <memory>

namespace bloomring {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return bad_record(std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  BLOOMRING_TRY_ASSIGN(const int once, half(number));
  BLOOMRING_TRY(half(once).status().with_context("once more"));
  return once / 2;
}

}  // namespace

TEST_CASE("result: a failure goes up with its code, and with what callers put in front of its message") {
  CHECK(quarter(12).value() == 3);
  CHECK(quarter(12).status().to_string() == "ok");
  CHECK(quarter(7).status().to_string() == "bad record: 7 is odd");
  CHECK(quarter(6).status().to_string() == "bad record: once more: 3 is odd");
  CHECK(std::move(Status()).with_context("nowhere").to_string() == "ok");
}

TEST_CASE("result: each code has a name of its own") {
  CHECK(retry("x").to_string() == "retry: x");
  CHECK(fenced("x").to_string() == "fenced: x");
  CHECK(corrupt("x").to_string() == "corrupt: x");
  CHECK(invalid("x").to_string() == "invalid: x");
  CHECK(fatal("x").to_string() == "fatal: x");
}

TEST_CASE("result: a value that cannot be copied moves out") {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(made).value();
  CHECK(*taken == 7);
}

}  // namespace bloomring
