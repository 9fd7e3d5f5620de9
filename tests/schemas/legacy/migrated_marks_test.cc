#include "schemas/legacy/migrated_marks.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace bloomring;

TEST_CASE("migrated marks: as many as make a wrong one as unlikely as it must be, and no more") {
  for (const double rate : {0.001, 0.01, 0.05, 0.5}) {
    INFO(rate);
    const auto count = static_cast<double>(migrated_marks("hist:17", rate).size());
    CHECK(std::pow(rate, count) <= kMarksWrongMax * 1.001);
    CHECK(std::pow(rate, count - 1) > kMarksWrongMax);
  }
  CHECK(migrated_marks("hist:17", 0.01).size() == 6);
}

TEST_CASE("migrated marks: each set has its own, always the same ones") {
  std::set<ItemHash> all;
  for (const char* key : {"hist:17", "hist:18", "more:17", ""})
    for (const ItemHash mark : migrated_marks(key, 0.01)) all.insert(mark);
  CHECK(all.size() == 24);
  CHECK(migrated_marks("hist:17", 0.01) == migrated_marks("hist:17", 0.01));
  // A lower rate asks for fewer of the same marks.
  const auto few = migrated_marks("hist:17", 0.0001), many = migrated_marks("hist:17", 0.01);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}
