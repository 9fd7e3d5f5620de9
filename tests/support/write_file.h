// A file of a test with this content.
#pragma once

#include <fstream>
#include <string>

namespace bloomring::testing {

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace bloomring::testing
