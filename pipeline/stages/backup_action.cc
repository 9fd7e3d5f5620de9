#include "pipeline/stages/backup_action.h"

#include "base/log.h"
#include "pipeline/admin/backup_json.h"
#include "state/store/store_metrics.h"

namespace bloomring {

namespace {

AdminPage refused(int status, const std::string& text) { return {status, "text/plain; charset=utf-8", text + "\n"}; }

}  // namespace

void BackupAction::open(StoreAdmin& store) {
  const std::lock_guard lock(mutex_);
  store_ = &store;
}

void BackupAction::close() {
  const std::lock_guard lock(mutex_);
  store_ = nullptr;
}

AdminPage BackupAction::take() {
  if (taking_.test_and_set()) return refused(409, "a backup is under way");
  const std::lock_guard lock(mutex_);
  AdminPage page = take_locked();
  taking_.clear();
  return page;
}

Status BackupAction::remove_before(int64_t before_ms) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || store_ == nullptr) return {};
  return store_->remove_backups(settings_.backup_path, before_ms).status();
}

AdminPage BackupAction::take_locked() {
  if (settings_.backup_path.empty()) {
    return refused(409, "store.backup_path is not set in the configuration of this process");
  }
  if (store_ == nullptr) return refused(503, "the filter store is not open");
  const int64_t now_ns = clock_.steady_ns(), interval_ns = int64_t{settings_.backup_interval_seconds} * 1'000'000'000;
  if (began_ns_ && now_ns - *began_ns_ < interval_ns) {
    return refused(429, "the last backup began " + std::to_string((now_ns - *began_ns_) / 1'000'000'000) +
                            " s ago; store.backup_interval_seconds is " +
                            std::to_string(settings_.backup_interval_seconds));
  }
  began_ns_ = now_ns;
  const auto taken =
      store_->back_up({settings_.backup_path, settings_.backups_kept, settings_.backup_bytes_per_second});
  metrics_.counter(metric::kStoreBackups, {taken.ok() ? "ok" : "failed"}).add();
  if (!taken.ok()) {
    log_error("no backup of the filter store",
              {{"code", code_name(taken.code())}, {"reason", taken.status().message()}});
    return refused(500, taken.status().message());
  }
  metrics_.gauge(metric::kStoreBackupTime).set(static_cast<double>(taken->time_ms) / 1000.0);
  log_info("backup of the filter store taken",
           {{"backup", taken->id}, {"bytes", taken->bytes}, {"bytes_new", taken->bytes_new}});
  return {200, "application/json", backup_json(*taken) + "\n"};
}

}  // namespace bloomring
