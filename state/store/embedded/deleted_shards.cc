#include "state/store/embedded/deleted_shards.h"

#include <algorithm>
#include <memory>

#include "schemas/store/deletion_mark.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

// Every level of the range, also the last one, whose files no other compaction would choose.
Status compact(rocksdb::DB& db, const KeyRange& range) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const rocksdb::Slice begin = slice(range.begin), end = slice(range.end);
  return status_of(db.CompactRange(options, &begin, &end), "compacting deleted filters");
}

}  // namespace

Result<std::optional<int64_t>> stored_mark(const FilterRows& rows, ShardId shard) {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> bytes, rows.get(deletion_mark_key(shard)));
  if (!bytes) return std::optional<int64_t>();
  const auto since_ms = decode_deletion_mark(*bytes, shard);
  return std::optional<int64_t>(since_ms.ok() ? *since_ms : 0);
}

Status DeletedShards::load(rocksdb::DB& db) {
  const std::lock_guard lock(mutex_);
  const rocksdb::Slice end = slice(kDeletionMarkKeysEnd);
  rocksdb::ReadOptions read;
  read.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> row(db.NewIterator(read));
  for (row->Seek(slice(kDeletionMarkKeysBegin)); row->Valid(); row->Next()) {
    const auto shard = parse_deletion_mark_key(view(row->key()));
    if (!shard.ok()) continue;
    const auto since_ms = decode_deletion_mark(view(row->value()), *shard);
    since_ms_[*shard] = since_ms.ok() ? *since_ms : 0;
  }
  return status_of(row->status(), "deletion marks");
}

void DeletedShards::mark(ShardId shard, int64_t now_ms, rocksdb::WriteBatch& batch) {
  const std::lock_guard lock(mutex_);
  const int64_t since_ms = since_ms_.try_emplace(shard, now_ms).first->second;
  batch.Put(deletion_mark_key(shard), encode_deletion_mark(since_ms, shard));
}

// The mark leaves memory before the compaction, so that a deletion during it marks the shard again. By then every batch
// that was marked before is written.
Result<std::optional<ShardId>> DeletedShards::compact_oldest(rocksdb::DB& db, int64_t until_ms) {
  const std::optional<ShardId> shard = oldest(until_ms);
  if (!shard) return shard;
  int64_t since_ms = 0;
  {
    const std::lock_guard no_writing(writing_);
    const std::lock_guard lock(mutex_);
    since_ms = since_ms_.at(*shard);
    since_ms_.erase(*shard);
  }
  const auto compacted = [&]() -> Status {
    BLOOMRING_TRY(compact(db, filter_keys_of(*shard)));
    return compact(db, forgotten_keys_of(*shard));
  }();
  const std::lock_guard lock(mutex_);
  if (!compacted.ok()) {
    since_ms_[*shard] = since_ms;
    return compacted;
  }
  if (since_ms_.contains(*shard)) return shard;
  BLOOMRING_TRY(status_of(db.Delete(rocksdb::WriteOptions(), deletion_mark_key(*shard)), "deletion marks"));
  return shard;
}

std::optional<ShardId> DeletedShards::oldest(int64_t until_ms) const {
  const std::lock_guard lock(mutex_);
  const auto first = std::ranges::min_element(since_ms_, {}, [](const auto& mark) { return mark.second; });
  if (first == since_ms_.end() || first->second > until_ms) return std::nullopt;
  return first->first;
}

size_t DeletedShards::marked() const {
  const std::lock_guard lock(mutex_);
  return since_ms_.size();
}

std::optional<int64_t> DeletedShards::oldest_ms() const {
  const std::lock_guard lock(mutex_);
  std::optional<int64_t> oldest;
  for (const auto& [shard, since_ms] : since_ms_) oldest = std::min(oldest.value_or(since_ms), since_ms);
  return oldest;
}

}  // namespace bloomring
