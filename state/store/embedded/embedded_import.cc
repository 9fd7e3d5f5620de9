#include "state/store/embedded/embedded_import.h"

#include <rocksdb/write_batch.h>

#include <utility>

namespace bloomring {

namespace {

// True when the store has nothing but what opening it makes.
Result<bool> is_empty(const FilterRows& rows) {
  const std::unique_ptr<rocksdb::Iterator> row(rows.db.NewIterator(rocksdb::ReadOptions()));
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    if (view(row->key()) != kMetaKey && view(row->key()) != kSlotEndKeyKey) return false;
  }
  BLOOMRING_TRY(status_of(row->status(), "filter store"));
  return true;
}

}  // namespace

Result<std::unique_ptr<StoreImport>> EmbeddedImport::begin(FilterRows rows, const StoreMeta& marked,
                                                           const Watermarks&, Write write) {
  const std::string mark = encode_store_meta(marked);
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> stored, rows.get(kMetaKey));
  if (stored != mark) {
    BLOOMRING_TRY_ASSIGN(const bool empty, is_empty(rows));
    if (!empty) return invalid("the filter store has data already: name an empty one");
    rocksdb::WriteBatch batch;
    BLOOMRING_TRY(status_of(batch.Put(slice(kMetaKey), mark), "filter store"));
    BLOOMRING_TRY(write(batch, true));
  }
  return std::unique_ptr<StoreImport>(new EmbeddedImport(marked, std::move(write)));
}

Status EmbeddedImport::write(std::span<const ExportedValue> values) {
  rocksdb::WriteBatch batch;
  for (const ExportedValue& one : values) {
    BLOOMRING_TRY(parse_user_of(one.key).status());
    BLOOMRING_TRY(status_of(batch.Put(slice(one.key), slice(one.value)), "filter store"));
  }
  return write_(batch, false);
}

// A durable write makes durable what was written before it.
Status EmbeddedImport::end(const Watermarks& watermarks) {
  rocksdb::WriteBatch batch;
  for (const auto& [partition, watermark] : watermarks) {
    const std::string bytes = encode_watermark(watermark, partition, meta_.partition_count);
    BLOOMRING_TRY(status_of(batch.Put(watermark_key(partition), bytes), "filter store"));
  }
  StoreMeta ended = meta_;
  ended.import_id = 0;
  BLOOMRING_TRY(status_of(batch.Put(slice(kMetaKey), encode_store_meta(ended)), "filter store"));
  return write_(batch, true);
}

}  // namespace bloomring
