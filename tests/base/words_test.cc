#include "base/words.h"

#include <catch2/catch.hpp>

namespace bloomring {

TEST_CASE("words: names are listed with commas, and an empty one can be seen") {
  CHECK(joined_names(std::vector<std::string>{"feed", "", "search"}) == "feed, \"\", search");
  CHECK(joined_names(std::vector<std::string>{}) == "");
  CHECK(joined(std::vector<std::string>{"a", "b"}, ",") == "a,b");
}

TEST_CASE("words: lines have no line ends, and the last one needs none") {
  CHECK(lines_of("one\n\ntwo\n") == std::vector<std::string>{"one", "", "two"});
  CHECK(lines_of("one\ntwo") == std::vector<std::string>{"one", "two"});
  CHECK(lines_of("").empty());
}

TEST_CASE("words: a text of several lines is shown on one, without the line breaks at its end") {
  CHECK(one_line("a\tb\nc") == "a b c");
  CHECK(one_line("ends here \r\n\n") == "ends here");
  CHECK(one_line("\n") == "");
}

TEST_CASE("words: bytes are shown as two digits each") {
  CHECK(hex(std::string_view("\x00\x0f\xa0\xff", 4)) == "000fa0ff");
  CHECK(hex("").empty());
}

}  // namespace bloomring
