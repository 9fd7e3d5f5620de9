// The code for RocksDB 7.8.3 that the embedded stores share: options that keep it within its bounds, and its errors as
// ours. Included by sources of this folder only.
//
// Choices that must not be undone without reading why:
//   - the write buffer manager never stalls writers: allow_stall deadlocks with many instances
//     (facebook/rocksdb #11780);
//   - at most 2 write buffers: with more, the retry of a failed flush could reorder data (fixed in 7.9.0);
//   - no log files (state/rocksdb/rocks_log.h);
//   - LRU cache, no async_io, no user timestamps: the alternatives are not ready in this version.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/write_buffer_manager.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "state/rocksdb/rocks_board.h"
#include "state/rocksdb/state_memory.h"

namespace bloomring {

struct StateMemory::Parts {
  std::shared_ptr<rocksdb::Cache> cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<RocksBoard> board;  // Shared with the databases' entries.
};

inline rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

// Ours for RocksDB's, with `what` in front: kCorrupt for bytes that differ from the written ones, kInvalid for a lock
// that another process holds, kRetry for failures that pass, kFatal for those that stay (disk full, I/O error).
Status status_of(const rocksdb::Status& status, std::string_view what);

// Options for one column family with a small log, checked reads and bounded memory and files. `block_bytes` is the size
// of the blocks that are read at once. The caller bounds the number of open table files: each costs a descriptor.
rocksdb::Options rocks_options(const StateMemory& memory, size_t block_bytes);

// Files of the folder, not of its subfolders, that RocksDB calls table files; 0 when it cannot be read.
uint64_t count_table_files(const std::string& path);
// Bytes of all files of the folder, not of its subfolders; 0 when it cannot be read.
uint64_t folder_bytes(const std::string& path);

}  // namespace bloomring
