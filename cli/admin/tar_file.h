// A tar file (POSIX ustar) of a few texts.
// Threading: pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bloomring::cli {

struct TarPart {
  std::string name;  // A relative path of at most 100 bytes.
  std::string text;
};

// The bytes of the file. Each part has mode 0600 and this time.
std::string tar_of(const std::vector<TarPart>& parts, int64_t time_ms);

}  // namespace bloomring::cli
