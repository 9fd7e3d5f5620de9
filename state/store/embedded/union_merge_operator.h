// RocksDB's merge operator for filter keys: operands are filters, their merge is the union
// (state/store/stored_union.h).
//
// It is a MergeOperator with full and partial merges, never an AssociativeMergeOperator: that one folds operands in
// pairs, which takes 20 s for 50,000 operands of a key; this one takes milliseconds (facebook/rocksdb #1988). A full
// merge folds the filter to its final bits once its period is closed.
// Threading: RocksDB calls it from many threads at once; it changes only a counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "filter/filter.h"
#include "state/store/filter_life.h"

namespace rocksdb {
class MergeOperator;
}

namespace bloomring {

// `clock` and `refused` (counts the values that unions refused) outlive the operator.
std::shared_ptr<rocksdb::MergeOperator> make_union_merge_operator(const filter::Policy& policy, const FilterLife& life,
                                                                  const Clock& clock, std::atomic<uint64_t>& refused);

}  // namespace bloomring
