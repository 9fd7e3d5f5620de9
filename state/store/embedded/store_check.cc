#include "state/store/embedded/store_check.h"

#include "schemas/forgotten.h"
#include "schemas/store/deletion_mark.h"
#include "schemas/store/slot_end_key.h"
#include "state/store/check_store_meta.h"

namespace bloomring {

namespace {

constexpr uint64_t kRowsPerProgress = 100'000;

class Checker {
 public:
  explicit Checker(StoreMeta configured) : configured_(std::move(configured)) {}

  void row(std::string_view key, std::string_view value) { found.note_row(check(key, value)); }

  StoreCheck found;

 private:
  Status check(std::string_view key, std::string_view value) {
    if (key == kMetaKey) return check_store_meta(value, configured_);
    if (key == kSlotEndKeyKey) return decode_slot_end_key(value).status();
    if (!key.empty() && key[0] == kDeletionMarkKeyTag) return deletion_mark(key, value);
    if (!key.empty() && key[0] == kWatermarkKeyTag) return watermark(key, value);
    if (!key.empty() && key[0] == kForgottenKeyTag) return decode_forgotten(value, key).status();
    BLOOMRING_TRY(parse_filter_key(key).status());
    return found.check_filter(key, value);
  }

  static Status deletion_mark(std::string_view key, std::string_view value) {
    BLOOMRING_TRY_ASSIGN(const ShardId shard, parse_deletion_mark_key(key));
    return decode_deletion_mark(value, shard).status();
  }

  Status watermark(std::string_view key, std::string_view value) {
    BLOOMRING_TRY_ASSIGN(const PartitionId partition, parse_watermark_key(key));
    BLOOMRING_TRY_ASSIGN(found.watermarks[partition], decode_watermark(value, partition, configured_.partition_count));
    return {};
  }

  const StoreMeta configured_;
};

}  // namespace

Result<StoreCheck> check_rows(const FilterRows& rows, uint32_t partition_count, const StoreCheckProgress& progress) {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> row(rows.db.NewIterator(options));
  Checker checker(store_meta(partition_count, rows.life.calendar()));
  uint64_t seen = 0;
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    checker.row(view(row->key()), view(row->value()));
    if (progress && ++seen % kRowsPerProgress == 0) progress(checker.found);
  }
  BLOOMRING_TRY(status_of(row->status(), "filter store"));
  return std::move(checker.found);
}

}  // namespace bloomring
