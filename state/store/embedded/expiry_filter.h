// RocksDB's compaction filter: drops expired filters, both values and operands that are not united yet, and expired
// forgotten values. A pure function of key and value, the retention rules and the time at which the compaction began.
// It keeps other keys.
//
// Compactions drop late, so reads must leave out expired filters that are still stored
// (state/store/embedded/filter_rows.h).
// Threading: each compaction has its own filter; they share only a counter.
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

// `clock` and `dropped` (counts dropped values and operands) outlive the factory.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_expiry_filter(const FilterLife& life, const Clock& clock,
                                                                     std::atomic<uint64_t>& dropped);

}  // namespace bloomring
