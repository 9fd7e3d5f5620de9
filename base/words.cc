#include "base/words.h"

#include <sstream>

namespace bloomring {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace bloomring
