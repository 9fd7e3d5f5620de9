// The embedded filter store: filters and watermarks in a RocksDB folder on this machine, written by one process.
//
// The store writes updates without reading, as operands of a union, and compactions fold them
// (state/store/embedded/union_merge_operator.h). So an hour of a user's plays costs the bytes of these plays, not of
// the whole filter. The write-ahead log is on: this is the system of record. `apply` writes to it without waiting for
// the disk, `sync` and `advance` wait.
// Guarantees: a crash of the process loses no write for which `apply` returned ok. A crash of the machine loses no
// write before a `sync` or `advance` that returned ok; later writes may be lost, the last ones first.
//
// Other processes on the machine read it through EmbeddedFilterFollower
// (state/store/embedded/embedded_filter_follower.h).
// Errors: as state/store/filter_writer.h says; after kFatal the store must be opened again.
// Threading: see local_filter_store.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store_config.h"
#include "state/store/local_filter_store.h"

namespace bloomring {

class EmbeddedFilterStore final : public LocalFilterStore {
 public:
  // kInvalid when another process writes the store, when it was made for another partition count, or when the folder
  // cannot be made. `clock` outlives the store.
  static Result<std::unique_ptr<EmbeddedFilterStore>> open(const EmbeddedFilterStoreConfig& config,
                                                           const Calendar& calendar, const Clock& clock,
                                                           const StateMemory& memory);
  ~EmbeddedFilterStore() override;

  using LocalFilterReader::read;
  using LocalFilterStore::apply;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  Status sync() override;
  Status advance(PartitionId partition, const MergedWatermark& watermark) override;
  std::optional<int64_t> merged_ms() const override;
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  Result<std::optional<SumKey>> slot_end_key() override;
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override;
  Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) override;
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override;
  Result<std::set<std::string>> scenes() const override;
  Status walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
              const StoredVisit& visit) override;
  Result<uint64_t> generation() override;
  Result<std::unique_ptr<StoreImport>> begin_import(const Watermarks& watermarks) override;
  FilterStoreStats stats() const override;

  Status check_partition(PartitionId partition) const override;
  Result<std::optional<int64_t>> deleted_since_ms(ShardId shard) override;
  Result<StoreCheck> check(const StoreCheckProgress& progress) override;
  Result<StoreBackup> back_up(const StoreBackupConfig& config) override;
  Result<bool> erase_deleted(int64_t until_ms) override;
  Result<size_t> remove_backups(const std::string& folder, int64_t before_ms) override;
  Status begin_new_log() override;

  // Writes everything to table files and compacts them, which unites every operand and drops expired values. Takes as
  // long as reading and writing the whole store; for tests, inspection and quiet hours.
  Status compact();

 private:
  struct Impl;
  explicit EmbeddedFilterStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
