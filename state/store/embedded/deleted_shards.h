// The shards of an embedded filter store whose users' filters were deleted, until nothing of them is left in its files.
//
// RocksDB deletes by writing a tombstone; the deleted bytes stay in table files until a compaction meets both, which
// may take weeks. So a deletion marks its shard in the same write, and later the ranges of keys of that shard alone are
// compacted, down to the last level, one shard a call. A mark that is written during the compaction stays for the next
// one.
// Guarantees: after `compact_oldest` of a shard, no table file or log of the store has bytes of what was deleted there
// before the call. (A process that follows the store may hold a removed file open until its next refresh. RocksDB's
// list of files, MANIFEST, keeps the first and last keys of removed files until the store is opened again.)
// Threading: thread safe; one `compact_oldest` at a time.
// Errors: those of the database. A mark that cannot be read counts as one of 1970.
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "base/ids.h"
#include "base/result.h"
#include "state/rocksdb/rocks.h"
#include "state/store/embedded/filter_rows.h"

namespace bloomring {

// When the shard's mark was made, as the database has it; nothing without one.
Result<std::optional<int64_t>> stored_mark(const FilterRows& rows, ShardId shard);

class DeletedShards {
 public:
  // Reads the marks of the store. To be called once, before all else.
  Status load(rocksdb::DB& db);

  // To be held from the first `mark` of a batch until the batch is written: no compaction begins between the two.
  std::shared_lock<std::shared_mutex> writing() { return std::shared_lock(writing_); }
  // Adds the mark of a deletion to its batch. It has the time of the shard's first deletion.
  void mark(ShardId shard, int64_t now_ms, rocksdb::WriteBatch& batch);

  // Compacts the shard that was marked first, if that was at `until_ms` or before, and removes its mark. The shard, or
  // nothing when there was none.
  Result<std::optional<ShardId>> compact_oldest(rocksdb::DB& db, int64_t until_ms);

  size_t marked() const;
  // When the oldest mark was made; nothing without any.
  std::optional<int64_t> oldest_ms() const;

 private:
  std::optional<ShardId> oldest(int64_t until_ms) const;

  std::shared_mutex writing_;
  mutable std::mutex mutex_;  // Of the below; taken after the above.
  std::map<ShardId, int64_t> since_ms_;
};

}  // namespace bloomring
