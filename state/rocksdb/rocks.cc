#include "state/rocksdb/rocks.h"

#if __has_include(<rocksdb/advanced_cache.h>)  // Since RocksDB 8 it has what a cache can do; cache.h had it before.
#include <rocksdb/advanced_cache.h>
#endif
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <filesystem>

#include "state/rocksdb/rocks_log.h"

namespace bloomring {

namespace {

constexpr double kBloomBitsPerKey = 10;     // 1 % of needless reads.
constexpr double kHighPriorityShare = 0.3;  // Of the cache, kept for indexes and Bloom filters.
constexpr uint64_t kSyncBytes = 1 << 20;    // Files are written out as they grow, so that a sync has little to do.

rocksdb::BlockBasedTableOptions table_options(const StateMemory& memory, size_t block_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = memory.parts().cache;
  table.block_size = block_bytes;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  return table;
}

bool about_lock(const rocksdb::Status& status) {
  return status.IsIOError() && status.ToString().find("/LOCK") != std::string::npos;
}

bool passes(const rocksdb::Status& status) {
  return status.IsBusy() || status.IsTimedOut() || status.IsTryAgain() || status.IsIncomplete() || status.IsAborted();
}

}  // namespace

Status status_of(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  const std::string message = std::string(what) + ": " + status.ToString();
  if (status.IsCorruption()) return corrupt(message);
  if (about_lock(status)) return invalid(message);
  if (passes(status)) return retry(message);
  if (status.IsNoSpace()) return fatal(message + ": make room on the disk and restart");
  return fatal(message);
}

rocksdb::Options rocks_options(const StateMemory& memory, size_t block_bytes) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_manager = memory.parts().write_buffers;
  options.max_write_buffer_number = 2;
  options.max_background_jobs = std::max(2, memory.config().background_threads);
  options.bytes_per_sync = kSyncBytes;
  options.wal_bytes_per_sync = kSyncBytes;
  options.info_log = make_rocks_log();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(memory, block_bytes)));
  return options;
}

uint64_t count_table_files(const std::string& path) {
  uint64_t files = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(path, error), end; !error && file != end; file.increment(error)) {
    files += file->path().extension() == ".sst";
  }
  return files;
}

uint64_t folder_bytes(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(path, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;  // Files may be deleted while we look.
    if (const auto size = std::filesystem::file_size(file->path(), gone); !gone) bytes += size;
  }
  return bytes;
}

StateMemory::StateMemory(const StateMemoryConfig& config) : config_(config), parts_(std::make_unique<Parts>()) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = config.cache_bytes;
  cache.high_pri_pool_ratio = kHighPriorityShare;
  parts_->cache = rocksdb::NewLRUCache(cache);
  parts_->board = std::make_shared<RocksBoard>();
  parts_->write_buffers =
      std::make_shared<rocksdb::WriteBufferManager>(config.write_buffer_bytes, parts_->cache, /*allow_stall=*/false);
  rocksdb::Env* env = rocksdb::Env::Default();
  env->SetBackgroundThreads(std::max(1, config.background_threads), rocksdb::Env::LOW);
  env->SetBackgroundThreads(std::max(1, config.background_threads / 2), rocksdb::Env::HIGH);
}

StateMemory::~StateMemory() = default;

uint64_t StateMemory::cache_used_bytes() const { return parts_->cache->GetUsage(); }
RocksHealth StateMemory::health(RocksKind kind) const { return parts_->board->health(kind); }
std::string StateMemory::rocksdb_version() { return rocksdb::GetRocksVersionAsString(/*with_patch=*/true); }
uint64_t StateMemory::write_buffers_used_bytes() const { return parts_->write_buffers->memory_usage(); }

}  // namespace bloomring
