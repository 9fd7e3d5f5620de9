#include "tests/state/store/filter_store_beds.h"

#include "state/store/embedded/embedded_options.h"

namespace bloomring::testing {

void EmbeddedBed::write_row(const std::string& key, const std::string& value, bool as_operand) {
  close();
  {
    EmbeddedCounters counters;
    const FilterLife life(calendar);
    rocksdb::DB* opened = nullptr;
    REQUIRE(rocksdb::DB::Open(embedded_options(config(), life, clock, memory_, counters), config().path, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    const rocksdb::WriteOptions options;
    REQUIRE((as_operand ? db->Merge(options, key, value) : db->Put(options, key, value)).ok());
  }
  open();
}

void EmbeddedBed::damage(const std::string& name, int32_t period) {
  write_row(filter_key(user(name), PeriodUnit::kMonth, PeriodIndex(period)), "garbage", true);
}

void EmbeddedBed::damage_forgotten(const std::string& name) { write_row(forgotten_key(user(name)), "garbage"); }

}  // namespace bloomring::testing
