#include "state/store/embedded/embedded_filter_store.h"

#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "base/log.h"
#include "filter/filter.h"
#include "schemas/store/slot_end_key.h"
#include "state/merged_time.h"
#include "state/store/check_store_meta.h"
#include "state/store/check_update.h"
#include "state/store/embedded/backup_engine.h"
#include "state/store/embedded/deleted_shards.h"
#include "state/store/embedded/embedded_import.h"
#include "state/store/embedded/embedded_options.h"
#include "state/store/embedded/filter_rows.h"
#include "state/store/embedded/store_backup.h"
#include "state/store/embedded/store_check.h"
#include "state/store/embedded/stored_scenes.h"

namespace bloomring {

namespace {
constexpr size_t kBatchBytesMax = 1 << 20;  // Of one write to the log; a larger apply is written in several.
}

struct EmbeddedFilterStore::Impl {
  Impl(const EmbeddedFilterStoreConfig& config_, const Calendar& calendar, const Clock& clock_)
      : config(config_), life(calendar), clock(clock_) {}

  FilterRows rows() const { return {*db, life, clock}; }
  Status open_db(const StateMemory& memory);
  Status check_meta();
  // Makes a key of slot ends where there is none that can be read: nothing but unread slot ends depends on it.
  Status make_slot_end_key();
  // Learns merged log time from the watermarks; ignores one that cannot be read.
  void load_merged_time();
  // Adds the operand of the update to the batch.
  Status add(const FilterUpdate& update, rocksdb::WriteBatch& batch);
  // Adds the removals, then the value.
  Status add(const ForgottenUpdate& update, rocksdb::WriteBatch& batch);
  Status write_if_large(rocksdb::WriteBatch& batch);
  Status write(rocksdb::WriteBatch& batch);
  // Checks RocksDB's status of a write. After a failed write, RocksDB 7.8.3 ends the process by an assertion when it
  // writes again or closes its log, so the store does neither.
  Status written(const rocksdb::Status& status);
  bool writable() const { return !broken; }
  Status refusal() const {
    return fatal("filter store at " + config.path + ": a write failed before; restart the process");
  }

  const EmbeddedFilterStoreConfig config;
  const FilterLife life;
  ExpiryClock clock;
  EmbeddedCounters counters;
  DeletedShards deleted;
  std::atomic<uint64_t> updates{0};
  std::atomic<uint64_t> expired{0};
  std::atomic<uint64_t> ranges_erased{0};
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> applied{0};  // Writes so far; `durable` of them are known to be durable.
  std::atomic<uint64_t> durable{0};
  std::atomic<bool> broken{false};
  std::unique_ptr<rocksdb::DB> db;  // It calls into the members above until it is closed.
  RocksBoard::Entry entry;          // Last, so that it is destroyed before the database.
};

Status EmbeddedFilterStore::Impl::open_db(const StateMemory& memory) {
  std::error_code error;
  std::filesystem::create_directories(config.path, error);
  if (error) return invalid("filter store at " + config.path + ": the folder cannot be made: " + error.message());
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(embedded_options(config, life, clock, memory, counters), config.path, &opened);
  db.reset(opened);
  if (db) entry = memory.parts().board->add(RocksKind::kFilters, *db);
  Status result = status_of(status, "filter store at " + config.path);
  if (result.code() == Code::kInvalid) {
    return invalid("the filter store at " + config.path +
                   " is in use by another process: run one merge process per "
                   "embedded store");
  }
  return result;
}

Status EmbeddedFilterStore::Impl::check_meta() {
  const StoreMeta configured = store_meta(config.partition_count, life.calendar(), config.import_id);
  const std::string made = encode_store_meta(configured);
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> meta, rows().get(kMetaKey));
  if (meta) BLOOMRING_TRY(check_store_meta(*meta, configured));
  if (meta == made) return {};
  if (meta && config.import_id != 0) return {};  // `begin_import` decides.
  rocksdb::WriteOptions durably;
  durably.sync = true;
  return status_of(db->Put(durably, slice(kMetaKey), made), "filter store at " + config.path);
}

Status EmbeddedFilterStore::Impl::make_slot_end_key() {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> stored, rows().get(kSlotEndKeyKey));
  if (stored) {
    const auto known = decode_slot_end_key(*stored);
    if (known.ok()) return {};
    log_warning("a new key of slot ends is made; slots whose end is unread are drained again",
                {{"reason", known.status().message()}});
  }
  rocksdb::WriteOptions durably;
  durably.sync = true;
  return status_of(db->Put(durably, slice(kSlotEndKeyKey), encode_slot_end_key(random_sum_key())), "filter store");
}

void EmbeddedFilterStore::Impl::load_merged_time() {
  for (uint32_t p = 0; p < config.partition_count; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    const auto bytes = rows().get(watermark_key(partition));
    if (!bytes.ok() || !*bytes) continue;
    const auto watermark = decode_watermark(**bytes, partition, config.partition_count);
    if (watermark.ok()) clock.raise_merged_ms(watermark->merged_ms);
  }
}

Status EmbeddedFilterStore::Impl::add(const FilterUpdate& update, rocksdb::WriteBatch& batch) {
  BLOOMRING_TRY(check_update(update));
  if (!life.calendar().kept(update.user.hash, update.period, clock.now_ms())) {
    ++expired;
    return {};
  }
  const std::string key = filter_key(update.user, life.calendar().config().unit, update.period);
  const std::string operand = filter::make(update.items, update.user.key, key, config.policy);
  bytes_written += key.size() + operand.size();
  ++updates;
  return status_of(batch.Merge(key, operand), "filter store");
}

Status EmbeddedFilterStore::Impl::add(const ForgottenUpdate& update, rocksdb::WriteBatch& batch) {
  BLOOMRING_TRY(check_update(update));
  if (update.removed_from < update.removed_to) deleted.mark(update.user.shard(), clock.wall_ms(), batch);
  for (int32_t period = update.removed_from.value; period < update.removed_to.value; ++period) {
    const std::string key = filter_key(update.user, life.calendar().config().unit, PeriodIndex(period));
    BLOOMRING_TRY(status_of(batch.Delete(key), "filter store"));
  }
  const std::string key = forgotten_key(update.user);
  if (update.forgotten.empty()) return status_of(batch.Delete(key), "filter store");
  const std::string value = encode_forgotten(update.forgotten, key);
  bytes_written += key.size() + value.size();
  return status_of(batch.Put(key, value), "filter store");
}

Status EmbeddedFilterStore::Impl::write_if_large(rocksdb::WriteBatch& batch) {
  if (batch.GetDataSize() < kBatchBytesMax) return {};
  BLOOMRING_TRY(write(batch));
  batch.Clear();
  return {};
}

Status EmbeddedFilterStore::Impl::written(const rocksdb::Status& status) {
  Status result = status_of(status, "filter store at " + config.path);
  if (result.code() == Code::kFatal) broken = true;
  return result;
}

Status EmbeddedFilterStore::Impl::write(rocksdb::WriteBatch& batch) {
  if (!writable()) return refusal();
  BLOOMRING_TRY(written(db->Write(rocksdb::WriteOptions(), &batch)));
  ++applied;
  return {};
}

EmbeddedFilterStore::EmbeddedFilterStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// A broken store stays open until the end of the process, which is near: see `Impl::written`. It stays whole, since its
// background threads may call into it. A static list holds it, so that leak checkers accept it.
EmbeddedFilterStore::~EmbeddedFilterStore() {
  if (!impl_->broken) return;
  static std::mutex mutex;
  static auto* const left_open = new std::vector<std::unique_ptr<Impl>>();  // Never destroyed.
  const std::scoped_lock lock(mutex);
  left_open->push_back(std::move(impl_));
}

Result<std::unique_ptr<EmbeddedFilterStore>> EmbeddedFilterStore::open(const EmbeddedFilterStoreConfig& config,
                                                                       const Calendar& calendar, const Clock& clock,
                                                                       const StateMemory& memory) {
  auto impl = std::make_unique<Impl>(config, calendar, clock);
  BLOOMRING_TRY(impl->open_db(memory));
  BLOOMRING_TRY(impl->check_meta().with_context("filter store at " + config.path));
  BLOOMRING_TRY(impl->make_slot_end_key().with_context("filter store at " + config.path));
  BLOOMRING_TRY(impl->deleted.load(*impl->db));
  impl->load_merged_time();
  return std::unique_ptr<EmbeddedFilterStore>(new EmbeddedFilterStore(std::move(impl)));
}

Status EmbeddedFilterStore::apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) {
  BLOOMRING_TRY(injected_failure("store.apply"));
  rocksdb::WriteBatch batch;
  const auto writing = impl_->deleted.writing();
  for (const ForgottenUpdate& update : forgotten) {
    BLOOMRING_TRY(impl_->add(update, batch));
    BLOOMRING_TRY(impl_->write_if_large(batch));
  }
  for (const FilterUpdate& update : updates) {
    BLOOMRING_TRY(impl_->add(update, batch));
    BLOOMRING_TRY(impl_->write_if_large(batch));
  }
  return batch.Count() == 0 ? Status() : impl_->write(batch);
}

Status EmbeddedFilterStore::sync() {
  const uint64_t applied = impl_->applied;
  if (impl_->durable >= applied) return {};
  BLOOMRING_TRY(injected_failure("store.sync"));
  if (!impl_->writable()) return impl_->refusal();
  BLOOMRING_TRY(impl_->written(impl_->db->FlushWAL(/*sync=*/true)));
  uint64_t durable = impl_->durable;
  while (durable < applied && !impl_->durable.compare_exchange_weak(durable, applied)) {
  }
  return {};
}

Status EmbeddedFilterStore::advance(PartitionId partition, const MergedWatermark& watermark) {
  BLOOMRING_TRY(check_partition(partition));
  BLOOMRING_TRY(sync());
  BLOOMRING_TRY(injected_failure("store.advance"));
  rocksdb::WriteOptions durably;
  durably.sync = true;
  const std::string key = watermark_key(partition);
  const std::string value = encode_watermark(watermark, partition, impl_->config.partition_count);
  if (!impl_->writable()) return impl_->refusal();
  impl_->bytes_written += key.size() + value.size();
  BLOOMRING_TRY(impl_->written(impl_->db->Put(durably, key, value)));
  impl_->clock.raise_merged_ms(watermark.merged_ms);  // Only after the watermark is durable.
  return {};
}

Status EmbeddedFilterStore::check_partition(PartitionId partition) const {
  return bloomring::check_partition(partition, impl_->config.partition_count);
}

std::optional<int64_t> EmbeddedFilterStore::merged_ms() const { return impl_->clock.merged_ms(); }

Result<std::optional<MergedWatermark>> EmbeddedFilterStore::read_watermark(PartitionId partition) {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> bytes, impl_->rows().get(watermark_key(partition)));
  if (!bytes) return std::optional<MergedWatermark>();
  BLOOMRING_TRY_ASSIGN(MergedWatermark watermark, decode_watermark(*bytes, partition, impl_->config.partition_count));
  return std::optional<MergedWatermark>(std::move(watermark));
}

Result<std::optional<SumKey>> EmbeddedFilterStore::slot_end_key() {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> bytes, impl_->rows().get(kSlotEndKeyKey));
  if (!bytes) return std::optional<SumKey>();
  BLOOMRING_TRY_ASSIGN(const SumKey key, decode_slot_end_key(*bytes));
  return std::optional(key);
}

Status EmbeddedFilterStore::read(UserRef user, std::span<const PeriodIndex> periods,
                                 std::vector<StoredFilter>& out, Forgotten& forgotten) {
  return impl_->rows().read(user, periods, out, forgotten);
}

Status EmbeddedFilterStore::read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) {
  return impl_->rows().read_forgotten(users, out);
}

Result<std::set<std::string>> EmbeddedFilterStore::scenes() const { return stored_scenes(*impl_->db); }

Status EmbeddedFilterStore::scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) {
  return impl_->rows().scan(visit);
}

Status EmbeddedFilterStore::walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
                                 const StoredVisit& visit) {
  return impl_->rows().walk(kind, wanted, visit);
}

Result<uint64_t> EmbeddedFilterStore::generation() { return impl_->rows().generation(); }

Result<std::unique_ptr<StoreImport>> EmbeddedFilterStore::begin_import(const Watermarks& watermarks) {
  if (impl_->config.import_id == 0) return StoreAdmin::begin_import(watermarks);
  if (!impl_->writable()) return impl_->refusal();
  const StoreMeta marked = store_meta(impl_->config.partition_count, impl_->life.calendar(), impl_->config.import_id);
  return EmbeddedImport::begin(impl_->rows(), marked, watermarks, [this](rocksdb::WriteBatch& batch, bool durably) {
    rocksdb::WriteOptions options;
    options.sync = durably;
    return impl_->writable() ? impl_->written(impl_->db->Write(options, &batch)) : impl_->refusal();
  });
}

FilterStoreStats EmbeddedFilterStore::stats() const {
  const rocksdb::Options options = impl_->db->GetOptions();
  const auto written = [&](rocksdb::Tickers ticker) { return options.statistics->getTickerCount(ticker); };
  FilterStoreStats stats;
  stats.updates = impl_->updates;
  stats.expired_updates = impl_->expired;
  stats.expired_dropped = impl_->counters.dropped;
  stats.refused = impl_->counters.refused;
  stats.ranges_erased = impl_->ranges_erased;
  stats.ranges_to_erase = impl_->deleted.marked();
  stats.erase_since_ms = impl_->deleted.oldest_ms();
  stats.bytes_written = impl_->bytes_written;
  stats.bytes_on_disk = folder_bytes(impl_->config.path);
  stats.table_files = count_table_files(impl_->config.path);
  stats.open_files_max = open_files_max(impl_->config);
  stats.physical_bytes_written =
      written(rocksdb::WAL_FILE_BYTES) + written(rocksdb::FLUSH_WRITE_BYTES) + written(rocksdb::COMPACT_WRITE_BYTES);
  return stats;
}

Result<std::optional<int64_t>> EmbeddedFilterStore::deleted_since_ms(ShardId shard) {
  return stored_mark(impl_->rows(), shard);
}

Result<StoreCheck> EmbeddedFilterStore::check(const StoreCheckProgress& progress) {
  return check_rows(impl_->rows(), impl_->config.partition_count, progress);
}

Result<StoreBackup> EmbeddedFilterStore::back_up(const StoreBackupConfig& config) {
  if (!impl_->writable()) return impl_->refusal();
  return take_backup(*impl_->db, config);
}

Status EmbeddedFilterStore::begin_new_log() {
  if (!impl_->writable()) return impl_->refusal();
  rocksdb::WriteBatch batch;
  const uint32_t partitions = impl_->config.partition_count;
  for (uint32_t p = 0; p < partitions; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    BLOOMRING_TRY_ASSIGN(const auto old, read_watermark(partition));
    const std::string bytes = encode_watermark(of_new_log(old), partition, partitions);
    BLOOMRING_TRY(status_of(batch.Put(watermark_key(partition), bytes), "filter store"));
  }
  // Slot ends of the old log name other offsets: none of them counts any more.
  BLOOMRING_TRY(
      status_of(batch.Put(slice(kSlotEndKeyKey), encode_slot_end_key(random_sum_key())), "filter store"));
  rocksdb::WriteOptions durably;
  durably.sync = true;
  return impl_->written(impl_->db->Write(durably, &batch));
}

Result<bool> EmbeddedFilterStore::erase_deleted(int64_t until_ms) {
  if (!impl_->writable()) return impl_->refusal();
  BLOOMRING_TRY_ASSIGN(const auto shard, impl_->deleted.compact_oldest(*impl_->db, until_ms));
  impl_->ranges_erased += shard.has_value();
  return shard.has_value();
}

Result<size_t> EmbeddedFilterStore::remove_backups(const std::string& folder, int64_t before_ms) {
  return remove_old_backups(folder, before_ms);
}

Status EmbeddedFilterStore::compact() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  return status_of(impl_->db->CompactRange(options, nullptr, nullptr), "filter store at " + impl_->config.path);
}

}  // namespace bloomring
