#include "state/store/embedded/embedded_filter_follower.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "schemas/store/slot_end_key.h"
#include "state/merged_time.h"
#include "state/store/check_store_meta.h"
#include "state/store/embedded/deleted_shards.h"
#include "state/store/embedded/embedded_options.h"
#include "state/store/embedded/filter_rows.h"
#include "state/store/embedded/store_check.h"
#include "state/store/embedded/stored_scenes.h"

namespace bloomring {

namespace {

constexpr int kTurnsMax = 5;  // A compaction takes far longer than catching up.

}  // namespace

struct EmbeddedFilterFollower::Impl {
  Impl(const EmbeddedFilterStoreConfig& config_, const Calendar& calendar, const Clock& clock_,
       const StateMemory& memory)
      : config(config_),
        life(calendar),
        clock(clock_),
        options(embedded_options(config, life, clock, memory, counters)) {
    options.create_if_missing = false;
  }

  bool is_made() const { return std::filesystem::exists(config.path + "/CURRENT"); }
  std::string what() const { return "follower of the filter store at " + config.path; }
  bool replaced() const;
  Result<std::unique_ptr<rocksdb::DB>> open_db();
  // True when all files of the store were opened and are now too many.
  bool outgrown() const;
  Status catch_up(rocksdb::DB& at) const;
  Result<Watermarks> stored_watermarks(rocksdb::DB& at) const;
  // Catches up, twice when there are new watermarks, and returns the watermarks that may become visible.
  Result<Watermarks> catch_up_fully(rocksdb::DB& at);
  Result<std::optional<SumKey>> stored_key(rocksdb::DB& at) const;
  void show(Watermarks found, Result<std::optional<SumKey>> found_key);
  Status refresh();
  Status start();
  template <typename Read>
  auto reading(Read read) const;
  // The same, but catches up and reads again when the writer has removed a file that was not open.
  template <typename Read>
  Status again_where_files_went(EmbeddedFilterFollower& follower, Read read) const;

  const EmbeddedFilterStoreConfig config;
  const FilterLife life;
  ExpiryClock clock;
  EmbeddedCounters counters;
  rocksdb::Options options;

  std::atomic<bool> keeps_all_open{false};  // See the header.
  std::mutex refreshing;                    // One refresh at a time; guards `broken` and `db_id`.
  bool broken = false;    // Catching up failed: serves the old data until the store is open again.
  std::string db_id;
  mutable std::shared_mutex guard;  // Guards all below: readers hold it shared, so that the database stays.
  std::unique_ptr<rocksdb::DB> db;
  Status unreadable = retry("the filter store is not followed yet");  // Why there is no database.
  Watermarks watermarks;                                           // Visible ones.
  Result<std::optional<SumKey>> key = std::optional<SumKey>();     // Of slot ends, read with them.
};

// True when the folder holds another store than the one that is open.
bool EmbeddedFilterFollower::Impl::replaced() const {
  std::string id;
  return !rocksdb::ReadFileToString(rocksdb::Env::Default(), config.path + "/IDENTITY", &id).ok() || id != db_id;
}

Result<std::unique_ptr<rocksdb::DB>> EmbeddedFilterFollower::Impl::open_db() {
  if (!is_made()) {
    return retry("the filter store at " + config.path + " is not created yet: start the process that writes it");
  }
  keeps_all_open = count_table_files(config.path) <= open_files_max(config) / 4 * 3;
  options.max_open_files = keeps_all_open ? -1 : static_cast<int>(open_files_max(config));
  rocksdb::DB* opened = nullptr;
  // The second path is for a log file of RocksDB's own, which is not used: state/rocksdb/rocks_log.h.
  const rocksdb::Status status = rocksdb::DB::OpenAsSecondary(options, config.path, config.path, &opened);
  if (!status.ok()) return retry(status_of(status, what()).message());
  std::unique_ptr<rocksdb::DB> fresh(opened);
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> meta, (FilterRows{*fresh, life, clock}.get(kMetaKey)));
  if (!meta) return retry("the filter store at " + config.path + " is being created");
  const StoreMeta configured = store_meta(config.partition_count, life.calendar());
  BLOOMRING_TRY(check_store_meta(*meta, configured).with_context(what()));
  return fresh;
}

bool EmbeddedFilterFollower::Impl::outgrown() const {
  if (!keeps_all_open) return false;
  uint64_t files = 0;
  for (int level = 0; level < db->NumberLevels(); ++level) {
    std::string number;
    if (db->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &number)) files += std::stoull(number);
  }
  return files > open_files_max(config);
}

Status EmbeddedFilterFollower::Impl::catch_up(rocksdb::DB& at) const {
  const rocksdb::Status status = at.TryCatchUpWithPrimary();
  return status.ok() ? Status() : retry(status_of(status, what()).message());
}

Result<Watermarks> EmbeddedFilterFollower::Impl::stored_watermarks(rocksdb::DB& at) const {
  const rocksdb::Slice end = slice(kWatermarkKeysEnd);
  rocksdb::ReadOptions read_options;
  read_options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> row(at.NewIterator(read_options));
  Watermarks found;
  for (row->Seek(slice(kWatermarkKeysBegin)); row->Valid(); row->Next()) {
    BLOOMRING_TRY_ASSIGN(const PartitionId partition, parse_watermark_key(view(row->key())));
    BLOOMRING_TRY_ASSIGN(found[partition], decode_watermark(view(row->value()), partition, config.partition_count));
  }
  BLOOMRING_TRY(status_of(row->status(), what()));
  return found;
}

Result<std::optional<SumKey>> EmbeddedFilterFollower::Impl::stored_key(rocksdb::DB& at) const {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> bytes, (FilterRows{at, life, clock}.get(kSlotEndKeyKey)));
  if (!bytes) return std::optional<SumKey>();
  BLOOMRING_TRY_ASSIGN(const SumKey decoded, decode_slot_end_key(*bytes));
  return std::optional(decoded);
}

Result<Watermarks> EmbeddedFilterFollower::Impl::catch_up_fully(rocksdb::DB& at) {
  BLOOMRING_TRY(catch_up(at));
  BLOOMRING_TRY_ASSIGN(Watermarks found, stored_watermarks(at));
  if (&at == db.get() && found == watermarks) return found;
  BLOOMRING_TRY(catch_up(at));
  return found;
}

// Makes the watermarks visible, and merged log time with them. Under `guard`.
void EmbeddedFilterFollower::Impl::show(Watermarks found, Result<std::optional<SumKey>> found_key) {
  std::optional<int64_t> latest_ms;
  for (const auto& [partition, watermark] : found) latest_ms = std::max(latest_ms, watermark.merged_ms);
  clock.set_merged_ms(latest_ms);
  watermarks = std::move(found);
  key = std::move(found_key);
}

// Opens a store that is new, was replaced, or could not be followed further.
Status EmbeddedFilterFollower::Impl::start() {
  BLOOMRING_TRY_ASSIGN(std::unique_ptr<rocksdb::DB> fresh, open_db());
  BLOOMRING_TRY_ASSIGN(Watermarks found, catch_up_fully(*fresh));
  fresh->GetDbIdentity(db_id);
  broken = false;
  const std::unique_lock lock(guard);
  db = std::move(fresh);
  show(std::move(found), stored_key(*db));
  return {};
}

Status EmbeddedFilterFollower::Impl::refresh() {
  if (db == nullptr || broken || replaced() || outgrown()) return start();
  BLOOMRING_TRY_ASSIGN(Watermarks found, catch_up_fully(*db));
  auto found_key = stored_key(*db);
  const std::unique_lock lock(guard);
  show(std::move(found), std::move(found_key));
  return {};
}

template <typename Read>
auto EmbeddedFilterFollower::Impl::reading(Read read) const {
  const std::shared_lock lock(guard);
  if (db == nullptr) return decltype(read(FilterRows{*db, life, clock}))(unreadable);
  return read(FilterRows{*db, life, clock});
}

template <typename Read>
Status EmbeddedFilterFollower::Impl::again_where_files_went(EmbeddedFilterFollower& follower, Read read) const {
  Status status = reading(read);
  for (int turn = 0; turn < kTurnsMax && status.code() == Code::kFatal && !keeps_all_open; ++turn) {
    if (!follower.refresh().ok()) return status;
    status = reading(read);
  }
  return status;
}

EmbeddedFilterFollower::EmbeddedFilterFollower(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmbeddedFilterFollower::~EmbeddedFilterFollower() = default;

Result<std::unique_ptr<EmbeddedFilterFollower>> EmbeddedFilterFollower::follow(const EmbeddedFilterStoreConfig& config,
                                                                               const Calendar& calendar,
                                                                               const Clock& clock,
                                                                               const StateMemory& memory) {
  std::unique_ptr<EmbeddedFilterFollower> follower(
      new EmbeddedFilterFollower(std::make_unique<Impl>(config, calendar, clock, memory)));
  const Status status = follower->refresh();
  if (!status.ok() && status.code() != Code::kRetry) return status;
  return follower;
}

Status EmbeddedFilterFollower::refresh() {
  const std::lock_guard<std::mutex> refreshing(impl_->refreshing);
  Status status = impl_->refresh();
  if (status.ok()) return status;
  impl_->broken = true;
  const std::unique_lock lock(impl_->guard);
  impl_->unreadable = status;
  if (status.code() != Code::kRetry) impl_->db.reset();  // Not the store that we are configured for.
  return status;
}

std::optional<int64_t> EmbeddedFilterFollower::merged_ms() const { return impl_->clock.merged_ms(); }

Result<std::optional<MergedWatermark>> EmbeddedFilterFollower::read_watermark(PartitionId partition) {
  using Found = Result<std::optional<MergedWatermark>>;
  return impl_->reading([&](const FilterRows&) -> Found {
    const auto found = impl_->watermarks.find(partition);
    if (found == impl_->watermarks.end()) return std::optional<MergedWatermark>();
    return std::optional<MergedWatermark>(found->second);
  });
}

Result<std::optional<SumKey>> EmbeddedFilterFollower::slot_end_key() {
  return impl_->reading([&](const FilterRows&) { return impl_->key; });
}

Status EmbeddedFilterFollower::read(UserRef user, std::span<const PeriodIndex> periods,
                                    std::vector<StoredFilter>& out, Forgotten& forgotten) {
  const size_t found_before = out.size();
  return impl_->again_where_files_went(*this, [&](const FilterRows& rows) {
    out.resize(found_before);
    return rows.read(user, periods, out, forgotten);
  });
}

Status EmbeddedFilterFollower::scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) {
  return impl_->reading([&](const FilterRows& rows) { return rows.scan(visit); });
}

Status EmbeddedFilterFollower::walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
                                    const StoredVisit& visit) {
  return impl_->reading([&](const FilterRows& rows) { return rows.walk(kind, wanted, visit); });
}

Result<uint64_t> EmbeddedFilterFollower::generation() {
  return impl_->reading([](const FilterRows& rows) { return rows.generation(); });
}

Result<std::set<std::string>> EmbeddedFilterFollower::scenes() const {
  return impl_->reading([](const FilterRows& rows) { return stored_scenes(rows.db); });
}

Result<std::optional<int64_t>> EmbeddedFilterFollower::deleted_since_ms(ShardId shard) {
  return impl_->reading([&](const FilterRows& rows) { return stored_mark(rows, shard); });
}

Result<StoreCheck> EmbeddedFilterFollower::check(const StoreCheckProgress& progress) {
  return impl_->reading(
      [&](const FilterRows& rows) { return check_rows(rows, impl_->config.partition_count, progress); });
}

Result<bool> EmbeddedFilterFollower::is_made() { return impl_->is_made(); }

FilterStoreStats EmbeddedFilterFollower::stats() const {
  FilterStoreStats stats;
  stats.refused = impl_->counters.refused;
  stats.table_files = count_table_files(impl_->config.path);
  stats.open_files_max = open_files_max(impl_->config);
  stats.bytes_on_disk = folder_bytes(impl_->config.path);
  return stats;
}

}  // namespace bloomring
