// The process of tests that kill one: store_mover export|import embedded|redis PLACE FOLDER LAST. Does the work of
// `bloomring store export` and of `bloomring store import --execute` with the store at PLACE, in files of some values
// each, and kills itself (SIGKILL) behind the file number LAST of this run; 0: goes on to the end.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "state/store/check_store_meta.h"
#include "state/store/embedded/embedded_filter_follower.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "state/store/redis/redis_filter_store.h"
#include "state/store/transfer/import_files.h"
#include "state/store/transfer/store_export.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

// As the beds of the tests (filter_store_beds.h, transfer_beds.h).
constexpr int64_t kNowMs = 1795000000000;
constexpr uint32_t kPartitions = 4;
constexpr uint64_t kExportId = 77;
constexpr uint64_t kFileBytes = 500;

struct Work {
  bool exports, embedded;
  std::string place, folder;
  int last;

  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  StateMemory memory{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
};

EmbeddedFilterStoreConfig embedded_config(const Work& work, uint64_t import_id) {
  EmbeddedFilterStoreConfig config;
  config.path = work.place;
  config.partition_count = kPartitions;
  config.import_id = import_id;
  return config;
}

Result<std::unique_ptr<RedisFilterStore>> open_redis(const Work& work, uint64_t import_id) {
  RedisStoreConfig config;
  BLOOMRING_TRY_ASSIGN(RedisAddress address, parse_redis_address(work.place));
  config.addresses = {std::move(address)};
  config.partition_count = kPartitions;
  config.import_id = import_id;
  auto store = std::make_unique<RedisFilterStore>(config, work.calendar, work.clock, !work.exports);
  BLOOMRING_TRY(store->refresh());
  return store;
}

TransferProgress dies_behind(int last) {
  return [last, files = 0](const ExportManifest&) mutable {
    if (++files == last) ::kill(::getpid(), SIGKILL);
  };
}

Status export_from(const Work& work, FilterReader& reader, StoreAdmin& admin) {
  BLOOMRING_TRY(reader.refresh());
  ExportOptions options;
  options.folder = work.folder;
  options.export_id = kExportId;
  options.now_ms = kNowMs;
  options.file_bytes = kFileBytes;
  options.progress = dies_behind(work.last);
  const ExportSource source{reader, admin, store_meta(kPartitions, work.calendar), 3'600'000};
  return export_store(source, options).status();
}

Status run(const Work& work) {
  if (work.exports) {
    if (!work.embedded) {
      BLOOMRING_TRY_ASSIGN(const auto store, open_redis(work, 0));
      return export_from(work, *store, *store);
    }
    BLOOMRING_TRY_ASSIGN(const auto store, EmbeddedFilterFollower::follow(embedded_config(work, 0), work.calendar,
                                                                          work.clock, work.memory));
    return export_from(work, *store, *store);
  }
  BLOOMRING_TRY_ASSIGN(const ExportFolder folder, ExportFolder::open(work.folder, /*make=*/false));
  BLOOMRING_TRY_ASSIGN(const ExportManifest manifest, verify_export(folder, store_meta(kPartitions, work.calendar)));
  if (!work.embedded) {
    BLOOMRING_TRY_ASSIGN(const auto store, open_redis(work, manifest.export_id));
    return import_export(folder, manifest, *store, dies_behind(work.last));
  }
  BLOOMRING_TRY_ASSIGN(const auto store, EmbeddedFilterStore::open(embedded_config(work, manifest.export_id),
                                                                   work.calendar, work.clock, work.memory));
  return import_export(folder, manifest, *store, dies_behind(work.last));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Work work{std::string(argv[1]) == "export", std::string(argv[2]) == "embedded", argv[3], argv[4],
                  std::atoi(argv[5])};
  const Status done = run(work);
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.to_string().c_str());
  return done.ok() ? 0 : 1;
}
