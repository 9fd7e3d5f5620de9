// The filter store for a person or a page.
// Threading: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bloomring {

struct StoreStatus {
  struct Period {
    std::string name;  // "2026-11"
    uint64_t filters = 0;
    uint64_t bytes = 0;
  };
  // Only a look at every filter finds these.
  struct Contents {
    uint64_t unreadable = 0;
    std::vector<Period> periods = {};
  };
  std::string path;
  uint64_t bytes_on_disk = 0;
  std::optional<Contents> contents = std::nullopt;
};

}  // namespace bloomring
