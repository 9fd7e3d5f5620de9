#include "operators/merge_start.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("merge start: it lies in the log, and leaves out nothing but what was committed") {
  constexpr int64_t kEnd = 7;
  int cases = 0;
  for (int64_t start = 0; start <= kEnd; ++start) {
    for (int64_t end = start; end <= kEnd; ++end) {
      for (int64_t committed = -1; committed <= kEnd + 1; ++committed) {
        CAPTURE(start, end, committed);
        const auto known = committed < 0 ? std::nullopt : std::optional(Offset(committed));
        const MergeStart decided = decide_merge_start({known, Offset(start), Offset(end)});
        CHECK(decided.read_from >= Offset(start));
        CHECK(decided.read_from <= Offset(end));
        for (int64_t offset = start; offset < end; ++offset) {
          const bool left_out = Offset(offset) < decided.read_from;
          const bool same_log = committed <= end;
          CHECK(left_out == (same_log && offset < committed));
        }
        CHECK(decided.reason.empty() == (committed >= start && committed <= end));
        ++cases;
      }
    }
  }
  CHECK(cases == 36 * 10);
}

TEST_CASE("merge start: a log that was cut or made again is read from its start") {
  CHECK(decide_merge_start({Offset(100), Offset(0), Offset(40)}).read_from == Offset(0));
  CHECK(decide_merge_start({Offset(100), Offset(30), Offset(40)}).read_from == Offset(30));
  CHECK(decide_merge_start({Offset(100), Offset(0), Offset(0)}).read_from == Offset(0));
}
