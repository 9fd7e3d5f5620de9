// The writing process of tests that kill one: window_store_writer FOLDER. Continues at the applied offset and stages
// numbered blocks, releases hours and flushes until it is killed; prints a line every few blocks.
#include <cstdio>

#include "state/window/rocks_window_store.h"
#include "tests/state/window/numbered_blocks.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kBlocksPerLine = 7;
constexpr int64_t kBlocksPerFlush = 23;

Status write_blocks(const std::string& path) {
  const StateMemory memory({.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20});
  BLOOMRING_TRY_ASSIGN(const auto store, RocksWindowStore::open({path, kBlocksPartitionCount}, memory));
  BLOOMRING_TRY_ASSIGN(const auto state, store->load());
  for (Offset at = state ? state->applied : Offset(0);; ++at.value) {
    const Offset applied(at.value + 1);
    const HourIndex hour = numbered_hour(at);
    if (at.value % kBlocksPerHour == 0 && hour.value >= kHoursStaged) {  // A new hour begins: the oldest is released.
      BLOOMRING_TRY(store->release({HourIndex(hour.value - kHoursStaged)}, released_state(at)));
    }
    BLOOMRING_TRY(store->stage(hour, at, numbered_block(at), numbered_state(applied)));
    if (at.value % kBlocksPerFlush == 0) BLOOMRING_TRY(store->flush());
    if (at.value % kBlocksPerLine != 0) continue;
    std::printf("%lld\n", static_cast<long long>(at.value));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int, char** argv) {
  const Status status = write_blocks(argv[1]);
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}
