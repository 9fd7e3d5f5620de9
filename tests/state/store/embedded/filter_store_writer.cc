// The writing process of tests that kill one: filter_store_writer FOLDER PLAYS [unsynced]. Continues at the watermark
// of partition 0, applies numbered plays in batches, advances the watermark after each, prints how far it is, and ends
// at PLAYS. `unsynced`: never advances, so it begins at the first play each time, and nothing waits for the disk.
#include <cstdio>
#include <cstdlib>

#include "tests/support/manual_clock.h"
#include "tests/support/numbered_plays.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kBatchPlays = 50;

Status write_plays(const std::string& path, int64_t end, bool advancing) {
  const ManualClock clock(kPlaysNowMs);
  const StateMemory memory(plays_memory());
  BLOOMRING_TRY_ASSIGN(const auto store, EmbeddedFilterStore::open(plays_store(path), plays_calendar(), clock, memory));
  BLOOMRING_TRY_ASSIGN(const auto watermark, store->read_watermark(PartitionId(0)));
  int64_t at = watermark ? watermark->offset.value : 0;
  while (at < end) {
    BLOOMRING_TRY(apply_plays(*store, at, at + kBatchPlays));
    at += kBatchPlays;
    MergedWatermark next;
    next.add({Offset(0), Offset(at)}, HourIndex(at));
    if (advancing) BLOOMRING_TRY(store->advance(PartitionId(0), next));
    std::printf("%lld\n", static_cast<long long>(at));
    std::fflush(stdout);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = write_plays(argv[1], std::atoll(argv[2]), argc == 3);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
