// The configuration of an embedded filter store, for its writer, its followers and its checks. A value.
#pragma once

#include <cstdint>
#include <string>

#include "filter/policy.h"

namespace bloomring {

struct EmbeddedFilterStoreConfig {
  std::string path;  // Made when it does not exist.
  filter::Policy policy;
  uint32_t partition_count = 1;               // Fixed for the life of the store.
  uint64_t write_buffer_bytes = 32ull << 20;  // Of the store's share of the memory; larger means fewer writes.
  uint64_t import_id = 0;       // Opened for this import (state/store/store_import.h); 0: for a stage or a tool.
  uint32_t open_files_max = 0;  // Table files open at once; 0: half of the process's limit (base/host/open_files.h).
};

}  // namespace bloomring
