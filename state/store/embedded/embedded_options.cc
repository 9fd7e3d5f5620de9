#include "state/store/embedded/embedded_options.h"

#include <rocksdb/statistics.h>

#include <algorithm>

#include "base/host/open_files.h"
#include "state/store/embedded/expiry_filter.h"
#include "state/store/embedded/union_merge_operator.h"

namespace bloomring {

namespace {
constexpr size_t kBlockBytes = 8 << 10;  // A few filters of a user; a read from the disk costs as much anyway.
// Each file is compacted at least this often, also without new plays, so that expired values are dropped.
constexpr uint64_t kCompactedAtLeastSeconds = 30ull * 24 * 60 * 60;
// The smallest number that RocksDB accepts; it keeps ten of them for other files.
constexpr uint64_t kOpenFilesLeast = 20;
constexpr uint64_t kOpenFilesMost = 1 << 20;
constexpr uint64_t kOpenFilesOfParts = 4096;
// Files of a level are twice as large as those of the level above: 4,000 files at a terabyte with buffers of 40 MB,
// where files of one size would be 25,000.
constexpr int kFileGrowth = 2;
}  // namespace

uint32_t open_files_max(const EmbeddedFilterStoreConfig& config) {
  const uint64_t wanted = config.open_files_max > 0 ? config.open_files_max : open_files_limit() / 2;
  return static_cast<uint32_t>(std::clamp(wanted, kOpenFilesLeast, kOpenFilesMost));
}

rocksdb::Options embedded_options(const EmbeddedFilterStoreConfig& config, const FilterLife& life, const Clock& clock,
                                  const StateMemory& memory, EmbeddedCounters& counters) {
  rocksdb::Options options = rocks_options(memory, kBlockBytes);
  options.merge_operator = make_union_merge_operator(config.policy, life, clock, counters.refused);
  options.compaction_filter_factory = make_expiry_filter(life, clock, counters.dropped);
  options.max_open_files = static_cast<int>(open_files_max(config));
  // Each part of the cache of open files may hold one more than its share: 64 parts exceed a small bound by too much.
  if (open_files_max(config) < kOpenFilesOfParts) options.table_cache_numshardbits = 0;
  options.write_buffer_size = config.write_buffer_bytes;
  options.target_file_size_base = config.write_buffer_bytes;
  options.target_file_size_multiplier = kFileGrowth;
  options.max_bytes_for_level_base = 4 * config.write_buffer_bytes;
  options.level_compaction_dynamic_level_bytes = true;
  options.periodic_compaction_seconds = kCompactedAtLeastSeconds;
  options.compression = rocksdb::kNoCompression;  // Fingerprints are random bits.
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  memory.parts().board->count_in(RocksKind::kFilters, options.statistics);
  return options;
}

}  // namespace bloomring
