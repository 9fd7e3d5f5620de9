#include "base/config/nearest.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("nearest: the distance counts inserted, deleted, replaced and swapped letters") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("ring", "rnig") == 1);
  CHECK(edit_distance("slot", "slots") == 1);
  CHECK(edit_distance("query", "quary") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("nearest: a name is proposed only when most of its letters are right") {
  const std::vector<std::string> known = {"run", "query", "topics"};
  CHECK(nearest_name("qurey", known) == "query");
  CHECK(nearest_name("topic", known) == "topics");
  CHECK(nearest_name("delete", known) == "");
  CHECK(nearest_name("", known) == "");
}
