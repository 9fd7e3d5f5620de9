#include "state/embedded_options.h"

#include <rocksdb/statistics.h>

#include "state/expiry_filter.h"
#include "state/union_merge_operator.h"

namespace bloomring {

namespace {
constexpr size_t kBlockBytes = 8 << 10;  // A few filters of a user; what a read from the disk takes anyway.
// A file is compacted at least so often, also where nobody plays any more, so that what has expired goes.
constexpr uint64_t kCompactedAtLeastSeconds = 30ull * 24 * 60 * 60;
}  // namespace

rocksdb::Options embedded_options(const EmbeddedFilterStoreConfig& config, const FilterLife& life, const Clock& clock,
                                  const StateMemory& memory, EmbeddedCounters& counters) {
  rocksdb::Options options = rocks_options(memory, kBlockBytes);
  options.merge_operator = make_union_merge_operator(config.policy, life, clock, counters.refused);
  options.compaction_filter_factory = make_expiry_filter(life, clock, counters.dropped);
  options.write_buffer_size = config.write_buffer_bytes;
  options.target_file_size_base = config.write_buffer_bytes;
  options.max_bytes_for_level_base = 4 * config.write_buffer_bytes;
  options.level_compaction_dynamic_level_bytes = true;
  options.periodic_compaction_seconds = kCompactedAtLeastSeconds;
  options.compression = rocksdb::kNoCompression;  // Fingerprints are random bits.
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  return options;
}

}  // namespace bloomring
