// RocksDB's compaction filter: drops filters that have expired, values and operands that are not yet united alike, and
// what was forgotten longer ago. A pure function of key and value, the retention rules and the time at which the
// compaction began; other keys are kept.
//
// Compactions drop late: reads must not return what has expired but is still there
// (state/store/embedded/filter_rows.h). Thread safety: each compaction has a filter of its own; all that they share is
// a counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "state/store/filter_life.h"

namespace rocksdb {
class CompactionFilterFactory;
}

namespace bloomring {

// `clock` and `dropped` (counts values and operands that were dropped) outlive the factory.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_expiry_filter(const FilterLife& life, const Clock& clock,
                                                                     std::atomic<uint64_t>& dropped);

}  // namespace bloomring
