#include "pipeline/stages/backup_action.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <semaphore>
#include <thread>

#include "tests/support/manual_clock.h"

namespace bloomring {
namespace {

// A store whose backups are numbers.
class NumberedBackups final : public StoreAdmin {
 public:
  Status scan(const std::function<bool(const StoredFilter&, std::string_view)>&) override { return {}; }
  FilterStoreStats stats() const override { return {}; }
  Result<StoreBackup> back_up(const StoreBackupConfig&) override {
    if (slow) {
      begun.release();
      may_end.acquire();
    }
    if (fails) return fatal("the disk is full");
    return StoreBackup{.id = ++taken};
  }

  Result<size_t> remove_backups(const std::string&, int64_t) override {
    begun.release();
    may_end.acquire();
    return size_t{1};
  }

  uint32_t taken = 0;
  bool fails = false, slow = false;
  std::binary_semaphore begun{0}, may_end{0};
};

StoreSettings with_backups() {
  StoreSettings settings;
  settings.backup_path = "/backups";
  settings.backup_interval_seconds = 60;
  return settings;
}

struct Rig {
  StoreSettings settings = with_backups();
  ManualClock clock{1'000'000};
  Metrics metrics;
  NumberedBackups store;
  BackupAction action{settings, clock, metrics};
};

}  // namespace

TEST_CASE("backup action: a second backup waits for its interval, so that requests push no older ones out") {
  Rig rig;
  rig.action.open(rig.store);
  CHECK(rig.action.take().status == 200);
  rig.clock.advance_ms(59'999);
  for (int i = 0; i < 30; ++i) CHECK(rig.action.take().status == 429);
  CHECK(rig.action.take().body == "the last backup began 59 s ago; store.backup_interval_seconds is 60\n");
  CHECK(rig.store.taken == 1);
  rig.clock.set_wrong_by_ms(86'400'000);  // Wall time does not count.
  CHECK(rig.action.take().status == 429);
  rig.clock.advance_ms(1);
  CHECK(rig.action.take().status == 200);
  CHECK(rig.store.taken == 2);
}

TEST_CASE("backup action: without a folder, a store or its success the answer says so") {
  Rig rig;
  CHECK(rig.action.take().status == 503);
  rig.action.open(rig.store);
  rig.store.fails = true;
  CHECK(rig.action.take().body == "the disk is full\n");
  rig.action.close();
  CHECK(rig.action.take().status == 503);
  rig.settings.backup_path.clear();
  CHECK(rig.action.take().body == "store.backup_path is not set in the configuration of this process\n");
}

TEST_CASE("backup action: one backup at a time, and the end of the process waits for it") {
  Rig rig;
  rig.action.open(rig.store);
  rig.store.slow = true;
  std::thread first([&] { CHECK(rig.action.take().status == 200); });
  rig.store.begun.acquire();
  CHECK(rig.action.take().body == "a backup is under way\n");
  rig.store.may_end.release();
  rig.action.close();
  CHECK(rig.store.taken == 1);
  first.join();
}

TEST_CASE("backup action: a backup waits for a removal of older ones") {
  Rig rig;
  rig.action.open(rig.store);
  std::thread removal([&] { CHECK(rig.action.remove_before(1).ok()); });
  rig.store.begun.acquire();
  auto backup = std::async(std::launch::async, [&] { return rig.action.take().status; });
  CHECK(backup.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  rig.store.may_end.release();
  removal.join();
  CHECK(backup.get() == 200);
}

}  // namespace bloomring
