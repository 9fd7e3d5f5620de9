#include "cli/calls/item_lines.h"

namespace bloomring {

std::vector<std::string> item_lines(std::istream& in) {
  std::vector<std::string> items;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) items.push_back(line);
  }
  return items;
}

}  // namespace bloomring
