#include "cli/calls/item_lines.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace bloomring {

TEST_CASE("item lines: a line is an item, whichever end of line the file has, and empty ones are none") {
  std::istringstream in("1\r\n\r\n\n 2\n3\r4\nlast\r");
  CHECK(item_lines(in) == std::vector<std::string>{"1", " 2", "3\r4", "last"});
}

}  // namespace bloomring
