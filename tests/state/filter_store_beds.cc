#include "tests/state/filter_store_beds.h"

#include "state/embedded_options.h"

namespace bloomring::testing {

void EmbeddedBed::damage(const std::string& name, int32_t period) {
  close();
  {
    EmbeddedCounters counters;
    const FilterLife life(calendar);
    rocksdb::DB* opened = nullptr;
    REQUIRE(rocksdb::DB::Open(embedded_options(config(), life, clock, memory_, counters), config().path, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::string key = filter_key(user(name), PeriodUnit::kMonth, PeriodIndex(period));
    REQUIRE(db->Merge(rocksdb::WriteOptions(), key, "garbage").ok());
  }
  open();
}

}  // namespace bloomring::testing
