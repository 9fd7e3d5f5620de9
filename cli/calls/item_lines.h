// The items that a command reads from standard input.
// Threading: pure functions.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace bloomring {

// Item ids, one a line; empty lines are passed over. A carriage return at a line's end belongs to the line's end, as in
// files from other systems: an id with it would be another id, which nobody has played.
std::vector<std::string> item_lines(std::istream& in);

}  // namespace bloomring
