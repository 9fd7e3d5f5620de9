#include "schemas/refusal.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "pipeline/tasks/dead_letter_metrics.h"

using namespace bloomring;

TEST_CASE("refusal: each has a name of its own, and these are the reasons that metrics know") {
  std::string joined;
  std::set<std::string> names;
  for (size_t i = 1; i < kRefusalCount; ++i) {
    const std::string name(refusal_name(static_cast<Refusal>(i)));
    CHECK(names.insert(name).second);
    joined += (joined.empty() ? "" : "|") + name;
  }
  CHECK(joined == metric::kRefusalReasons);
}
