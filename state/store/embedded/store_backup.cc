#include "state/store/embedded/store_backup.h"

#include <rocksdb/utilities/backup_engine.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "state/store/embedded/backup_engine.h"
#include "state/store/embedded/embedded_filter_follower.h"
#include "state/store/embedded/embedded_options.h"
#include "state/store/embedded/store_check.h"

namespace bloomring {

namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int kOpenTries = 16;

std::string what_of(const std::string& folder) { return "backups at " + folder; }

StoreBackup to_backup(const rocksdb::BackupInfo& info) {
  StoreBackup backup;
  backup.id = info.backup_id;
  backup.time_ms = info.timestamp * 1000;
  backup.bytes = info.size;
  backup.files = info.number_files;
  return backup;
}

using Reader = std::unique_ptr<rocksdb::BackupEngineReadOnly>;

// RocksDB lists the backups and then reads each. One that the writer removes in between is a file that is not there:
// the next try lists them again.
Result<Reader> open_reader(const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) return invalid("there are no " + what_of(folder));
  rocksdb::BackupEngineReadOnly* opened = nullptr;
  rocksdb::Status status;
  const rocksdb::BackupEngineOptions options(folder);
  for (int left = kOpenTries; left > 0; --left) {
    status = rocksdb::BackupEngineReadOnly::Open(options, rocksdb::Env::Default(), &opened);
    if (!status.IsPathNotFound()) break;
  }
  BLOOMRING_TRY(status_of(status, what_of(folder)));
  return Reader(opened);
}

// The backup with its details; the newest one for 0.
Result<rocksdb::BackupInfo> find(const rocksdb::BackupEngineReadOnly& reader, const std::string& folder, uint32_t id) {
  rocksdb::BackupInfo info;
  const rocksdb::Status status = id == 0 ? reader.GetLatestBackupInfo(&info, /*include_file_details=*/true)
                                         : reader.GetBackupInfo(id, &info, /*include_file_details=*/true);
  if (status.IsNotFound())
    return invalid(what_of(folder) + (id == 0 ? ": there is none" : ": there is no number " + std::to_string(id)));
  BLOOMRING_TRY(status_of(status, what_of(folder)));
  return info;
}

bool holds_something(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path) && !std::filesystem::is_empty(path, error);
}

}  // namespace

Result<std::vector<StoreBackup>> list_backups(const std::string& folder) {
  BLOOMRING_TRY_ASSIGN(const Reader reader, open_reader(folder));
  std::vector<rocksdb::BackupInfo> infos;
  reader->GetBackupInfo(&infos);
  std::vector<StoreBackup> backups;
  for (const rocksdb::BackupInfo& info : infos) backups.push_back(to_backup(info));
  return backups;
}

std::vector<uint32_t> backups_to_remove(const std::vector<StoreBackup>& backups, uint32_t kept) {
  std::vector<uint32_t> removed;
  std::set<int64_t> days;
  size_t newer = 0;
  for (auto backup = backups.rbegin(); backup != backups.rend(); ++backup) {
    const bool last_of_its_day = days.insert(backup->time_ms / kDayMs).second && days.size() <= kBackupDays;
    if (newer++ >= std::max<uint32_t>(1, kept) && !last_of_its_day) removed.push_back(backup->id);
  }
  return removed;
}

Result<size_t> remove_old_backups(const std::string& folder, int64_t before_ms) {
  if (!std::filesystem::is_directory(folder)) return size_t{0};
  BLOOMRING_TRY_ASSIGN(const std::vector<StoreBackup> backups, list_backups(folder));
  const auto old = [&](const StoreBackup& backup) { return backup.time_ms < before_ms; };
  const auto first_kept = std::ranges::find_if_not(backups, old);
  const auto kept = static_cast<size_t>(std::max<ptrdiff_t>(1, backups.end() - first_kept));
  if (kept >= backups.size()) return size_t{0};
  rocksdb::BackupEngine* opened = nullptr;
  BLOOMRING_TRY(status_of(
      rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(folder), rocksdb::Env::Default(), &opened),
      what_of(folder)));
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  BLOOMRING_TRY(status_of(engine->PurgeOldBackups(static_cast<uint32_t>(kept)), what_of(folder)));
  BLOOMRING_TRY(status_of(engine->GarbageCollect(), what_of(folder)));
  return backups.size() - kept;
}

Result<StoreBackup> restore_backup(const std::string& folder, uint32_t id, const std::string& path) {
  if (holds_something(path)) {
    return invalid(path +
                   " is not empty: stop the processes that use it and move it away, so that nothing is overwritten");
  }
  BLOOMRING_TRY_ASSIGN(const Reader reader, open_reader(folder));
  BLOOMRING_TRY_ASSIGN(const rocksdb::BackupInfo info, find(*reader, folder, id));
  const std::string unfinished = path + ".restoring";
  std::error_code error;
  std::filesystem::remove_all(unfinished, error);
  std::filesystem::create_directories(unfinished, error);
  if (error) return invalid(unfinished + " cannot be made: " + error.message());
  BLOOMRING_TRY(status_of(reader->RestoreDBFromBackup(info.backup_id, unfinished, unfinished), what_of(folder)));
  std::filesystem::remove(path, error);  // An empty folder may be there.
  std::filesystem::rename(unfinished, path, error);
  if (error) return fatal(unfinished + " cannot be renamed to " + path + ": " + error.message());
  return to_backup(info);
}

Result<StoreCheck> check_store(const EmbeddedFilterStoreConfig& config, const Calendar& calendar, const Clock& clock,
                               const StateMemory& memory, const StoreCheckProgress& progress) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<EmbeddedFilterFollower> follower,
                       EmbeddedFilterFollower::follow(config, calendar, clock, memory));
  return follower->check(progress);
}

Result<StoreCheck> check_backup(const std::string& folder, uint32_t id, const EmbeddedFilterStoreConfig& config,
                                const Calendar& calendar, const Clock& clock, const StateMemory& memory,
                                const StoreCheckProgress& progress) {
  BLOOMRING_TRY_ASSIGN(const Reader reader, open_reader(folder));
  BLOOMRING_TRY_ASSIGN(const rocksdb::BackupInfo info, find(*reader, folder, id));
  BLOOMRING_TRY(status_of(reader->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true), what_of(folder)));
  const FilterLife life(calendar);
  EmbeddedCounters counters;
  rocksdb::Options options = embedded_options(config, life, clock, memory, counters);
  options.create_if_missing = false;
  options.env = info.env_for_open.get();
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, info.name_for_open, &opened);
  BLOOMRING_TRY(status_of(status, what_of(folder)));
  const std::unique_ptr<rocksdb::DB> db(opened);
  return check_rows(FilterRows{*db, life, clock}, config.partition_count, progress);
}

Result<StoreBackup> take_backup(rocksdb::DB& db, const StoreBackupConfig& config) {
  std::error_code error;
  std::filesystem::create_directories(config.folder, error);
  if (error) return invalid(config.folder + " cannot be made: " + error.message());
  rocksdb::BackupEngineOptions options(config.folder);
  options.backup_rate_limit = config.bytes_per_second;
  rocksdb::BackupEngine* opened = nullptr;
  BLOOMRING_TRY(
      status_of(rocksdb::BackupEngine::Open(options, rocksdb::Env::Default(), &opened), what_of(config.folder)));
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  rocksdb::CreateBackupOptions how;
  how.flush_before_backup = true;  // Only table files, which the next backup shares; a log is not shared.
  rocksdb::BackupID id = 0;
  const uint64_t before = folder_bytes(config.folder + "/shared_checksum");
  BLOOMRING_TRY(status_of(engine->CreateNewBackup(how, &db, &id), what_of(config.folder)));
  const uint64_t after = folder_bytes(config.folder + "/shared_checksum");
  std::vector<rocksdb::BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  std::vector<StoreBackup> backups;
  for (const rocksdb::BackupInfo& taken : infos) backups.push_back(to_backup(taken));
  for (const uint32_t old : backups_to_remove(backups, config.kept)) {
    BLOOMRING_TRY(status_of(engine->DeleteBackup(old), what_of(config.folder)));
  }
  rocksdb::BackupInfo info;
  BLOOMRING_TRY(status_of(engine->GetBackupInfo(id, &info), what_of(config.folder)));
  StoreBackup backup = to_backup(info);
  backup.bytes_new = after - before;
  return backup;
}

}  // namespace bloomring
