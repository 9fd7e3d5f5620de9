#include "schemas/pieces/labelled_sum.h"

#include <catch2/catch.hpp>

#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"

using namespace bloomring;

namespace {

std::string summed(std::string body, std::string_view label) {
  append_labelled_sum(body, label);
  return body;
}

}  // namespace

// The sums are those of libxxhash itself: XXH3_64bits_withSeed(body, XXH3_64bits_withSeed(label, 0)), little-endian.
TEST_CASE("labelled sum: it is XXH3 of the body, seeded with XXH3 of the label") {
  CHECK(hex(summed("body", "label")) == hex("body") + "b6733531c6b42d73");
  CHECK(hex(summed("", "label")) == "d119ebadea2bf74c");
  CHECK(hex(summed("body", "")) == hex("body") + "0ee9e7ed6cc854e1");
}

TEST_CASE("labelled sum: the body comes back under its label, and under no other one") {
  const std::string value = summed("body", "label");
  CHECK(split_labelled_sum(value, "label") == "body");
  CHECK_FALSE(split_labelled_sum(value, "labels").has_value());
  CHECK_FALSE(split_labelled_sum(value, "").has_value());
  const std::string empty = summed("", "label");
  CHECK(split_labelled_sum(empty, "label") == "");
}

TEST_CASE("labelled sum: a value with a bit that differs, or with less or more at its end, is refused") {
  const std::string value = summed("body", "label");
  for_each_damage(value, [](const std::string& bad) { REQUIRE_FALSE(split_labelled_sum(bad, "label").has_value()); });
  const std::string longer = value + '\0';
  CHECK_FALSE(split_labelled_sum(longer, "label").has_value());
}

TEST_CASE("labelled sum: the sum at the end can be read without its label, and is 0 where there is none") {
  CHECK(labelled_sum_of(summed("body", "label")) == 0x732db4c6313573b6);
  CHECK(labelled_sum_of("7 bytes") == 0);
  CHECK(labelled_sum_of("") == 0);
}
