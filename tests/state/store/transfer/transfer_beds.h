// A source and a target of an export and an import, each of either kind of store.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "state/store/check_store_meta.h"
#include "state/store/transfer/export_folder.h"
#include "state/store/transfer/import_files.h"
#include "state/store/transfer/store_export.h"
#include "tests/state/store/filter_store_beds.h"

namespace bloomring::testing {

using Values = std::map<std::string, std::string>;
inline constexpr uint64_t kExportId = 77;

inline MergedWatermark merged_below(int64_t offset) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  watermark.slot_ms = 3'600'000;
  return watermark;
}

inline Values values_of(StoreAdmin& admin) {
  Values all;
  for (const ValueKind kind : {ValueKind::kForgotten, ValueKind::kFilter}) {
    const Status walked = admin.walk(kind, [](std::string_view) { return true; },
                                     [&](std::string_view key, std::string_view value) -> Result<bool> {
                                       REQUIRE(all.emplace(key, value).second);
                                       return true;
                                     });
    REQUIRE(walked.to_string() == "ok");
  }
  return all;
}

// The values in the files, each of which must be there once.
inline Values values_in(const ExportFolder& folder, const ExportManifest& manifest) {
  Values all;
  for (uint32_t number = 1; number <= manifest.files.size(); ++number) {
    ExportFile file;
    const auto bytes = folder.read(manifest, number, file);
    REQUIRE(bytes.status().to_string() == "ok");
    for (const ExportedValue& value : file.values) REQUIRE(all.emplace(value.key, value.value).second);
  }
  return all;
}

inline StoreAdmin& admin_of(EmbeddedBed& bed) { return bed.embedded(); }
inline StoreAdmin& admin_of(RedisBed& bed) { return bed.redis(); }

// Opens an empty store of the kind as another process would, for an import or as a stage.
class EmbeddedTarget {
 public:
  Status open(uint64_t import_id, uint32_t partitions = kBedPartitions) {
    store_.reset();
    EmbeddedFilterStoreConfig config;
    config.path = path();
    config.partition_count = partitions;
    config.write_buffer_bytes = 64 << 10;
    config.import_id = import_id;
    auto opened = EmbeddedFilterStore::open(config, calendar, clock, memory_);
    if (!opened.ok()) return opened.status();
    store_ = std::move(*opened);
    return {};
  }
  EmbeddedFilterStore& store() { return *store_; }
  std::string path() const { return folder_ / "target"; }

  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();

 private:
  Folder folder_;
  StateMemory memory_{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
  std::unique_ptr<EmbeddedFilterStore> store_;
};

class RedisTarget {
 public:
  Status open(uint64_t import_id, uint32_t partitions = kBedPartitions) {
    store_.reset();
    RedisStoreConfig config;
    config.addresses = {server_.address()};
    config.partition_count = partitions;
    config.timeout_ms = 4'000;
    config.import_id = import_id;
    store_ = std::make_unique<RedisFilterStore>(std::move(config), calendar, clock, /*writes=*/true);
    return store_->refresh();
  }
  RedisFilterStore& store() { return *store_; }
  RedisServer& server() { return server_; }

  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();

 private:
  RedisServer server_;
  std::unique_ptr<RedisFilterStore> store_;
};

template <typename Source, typename Target>
struct Transfer {
  Transfer() { options.folder = folder / "export"; options.export_id = kExportId; options.now_ms = kNowMs; }

  ExportSource of_source() {
    return {bed.store(), admin_of(bed), store_meta(kBedPartitions, bed.calendar), 3'600'000};
  }
  Result<ExportManifest> take() { return export_store(of_source(), options); }
  ExportFolder files() {
    auto opened = ExportFolder::open(options.folder, false);
    REQUIRE(opened.status().to_string() == "ok");
    return std::move(*opened);
  }
  // Everything that `bloomring store import --execute` does.
  Status import() {
    const ExportFolder from = files();
    BLOOMRING_TRY_ASSIGN(const ExportManifest manifest,
                         verify_export(from, store_meta(kBedPartitions, target.calendar)));
    BLOOMRING_TRY(target.open(manifest.export_id));
    return import_export(from, manifest, target.store(), after_file);
  }

  Folder folder;
  ExportOptions options;
  Source bed;
  Target target;
  TransferProgress after_file;
};

struct EmbeddedToRedis : Transfer<EmbeddedBed, RedisTarget> {};
struct RedisToEmbedded : Transfer<RedisBed, EmbeddedTarget> {};
struct ClusterToEmbedded : Transfer<RedisClusterBed, EmbeddedTarget> {};

}  // namespace bloomring::testing
