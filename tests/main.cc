#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// Read by LeakSanitizer. RocksDB 7.8.3 forgets the 16 bytes that describe a flush when the flush had been scheduled
// before a write in the background failed (full_disk_test.cc).
extern "C" const char* __lsan_default_suppressions() {
  return "leak:rocksdb::DBImpl::MaybeScheduleFlushOrCompaction\n";
}
