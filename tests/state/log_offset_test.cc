#include "state/log_offset.h"

#include <catch2/catch.hpp>

namespace bloomring {

TEST_CASE("log offset: it is not known before a log time was heard") { CHECK_FALSE(LogOffset().ms()); }

TEST_CASE("log offset: the most counts that was heard lately, also where nothing was heard for long") {
  LogOffset offset;
  offset.saw(1'000'000, 0);
  CHECK(offset.ms() == 1'000'000);
  offset.saw(1'000'000, 500);
  CHECK(offset.ms() == 1'000'000);
  offset.saw(1'005'000, LogOffset::kHeardMs);
  CHECK(offset.ms() == 1'000'000);
  offset.saw(1'005'000, 2 * LogOffset::kHeardMs);
  CHECK(offset.ms() == 1'005'000 - LogOffset::kHeardMs);
  offset.saw(7, 9 * LogOffset::kHeardMs);
  CHECK(offset.ms() == 7 - 9 * LogOffset::kHeardMs);
}

}  // namespace bloomring
