// The action POST /store/backup of the admin port: takes a backup of the filter store that this process writes.
//
// Guarantees: one backup at a time, and none sooner than store.backup_interval_seconds after the last one began:
// requests cannot push out older backups, nor keep the disk busy. A backup waits for a removal that is under way.
// Threading: thread safe.
// Errors: as pages: 409 where none can be taken, 429 where the last one is too recent, 503 while no store is open, 500
// where the store or the disk refuses; the log has the reason.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "pipeline/admin/admin_server.h"
#include "pipeline/settings/settings.h"
#include "state/store/store_admin.h"

namespace bloomring {

class BackupAction {
 public:
  // All three outlive it.
  BackupAction(const StoreSettings& settings, const Clock& clock, Metrics& metrics)
      : settings_(settings), clock_(clock), metrics_(metrics) {}

  // Takes backups of `store` from now on, until `close`.
  void open(StoreAdmin& store);
  void close();
  AdminPage take();
  bool under_way() const { return taking_.test(); }  // For a page.
  // Removes the backups of before, except the newest one. Nothing while a backup is under way: to be called again.
  Status remove_before(int64_t before_ms);

 private:
  AdminPage take_locked();

  const StoreSettings& settings_;
  const Clock& clock_;
  Metrics& metrics_;
  std::atomic_flag taking_;  // A backup is under way, or waits for a removal.
  std::mutex mutex_;         // Held by whoever uses the store.
  StoreAdmin* store_ = nullptr;
  std::optional<int64_t> began_ns_;  // The last one, by steady time.
};

}  // namespace bloomring
