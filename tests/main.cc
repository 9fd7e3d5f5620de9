#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// Read by LeakSanitizer. RocksDB 7.8.3 forgets the 16 bytes that describe a flush when the flush had been scheduled
// before a write in the background failed (full_disk_test.cc).
extern "C" const char* __lsan_default_suppressions() {
  return "leak:rocksdb::DBImpl::MaybeScheduleFlushOrCompaction\n";
}

// Read by ThreadSanitizer. gRPC and Abseil are built without it, so it does not see how they order what they do with
// memory of their own. These functions call free, realloc and memmove, and none of ours: no access of our code is ever
// below them. (GraphCycles is what Abseil looks for deadlocks of its own locks with.)
extern "C" const char* __tsan_default_suppressions() {
  return "race:closure_impl::closure_wrapper\n"
         "race:grpc_core::internal::StatusMoveFromHeapPtr\n"
         "race:gpr_realloc\n"
         "race:absl::debian3::synchronization_internal::GraphCycles::\n";
}
