#include "tests/simulation/sim_settings.h"

#include <array>

namespace bloomring::simulation {

namespace {

// Small sets take the dense form in three quarters of the worlds, in one of these all sets.
constexpr std::array<uint32_t, 4> kDenseFrom = {filter::Policy().dense_from_items, 0, 16, 100};

template <typename T, size_t n>
T one_of(Random& random, const T (&values)[n]) {
  return values[random() % n];
}

}  // namespace

SimSettings first_settings(uint64_t seed, bool small_records) {
  SimSettings settings;
  settings.ring_slots = static_cast<uint32_t>(3 + seed % 4);
  settings.drain.record_bytes = kRecordBytes;
  settings.drain.passes = 4;
  settings.drain.pass_bytes_max = 20'000;  // Some 350 events: the drain of a burst takes several passes.
  settings.ingest.block_events = small_records ? 4096 : 16;
  if (small_records) settings.ingest.block_bytes = kRecordBytes;
  settings.ingest.linger_ms = 50;
  settings.filter.dense_from_items = kDenseFrom[seed % kDenseFrom.size()];
  return settings;
}

SimSettings changed_settings(const SimSettings& first, bool small_records, Random& random) {
  SimSettings settings = first;
  settings.ring_slots = static_cast<uint32_t>(3 + random() % 6);
  settings.drain_spread = one_of(random, {0.0, 0.2, 0.5, 0.9});
  settings.drain.record_bytes = small_records ? one_of<size_t>(random, {100, kRecordBytes})
                                              : one_of<size_t>(random, {100, kRecordBytes, 4 << 10, 64 << 10});
  settings.drain.passes = one_of<size_t>(random, {1, 2, 4, 16});
  settings.drain.pass_bytes_max = one_of<size_t>(random, {8'000, 20'000, 1 << 20});
  settings.flush_interval_ms = one_of<int64_t>(random, {1'000, 7'000, 30'000});
  settings.ingest.block_events = one_of<size_t>(random, {2, 16, 4096});
  settings.ingest.block_bytes = small_records ? one_of<size_t>(random, {100, kRecordBytes})
                                              : one_of<size_t>(random, {100, 2'000, 256 << 10});
  settings.ingest.linger_ms = one_of<int64_t>(random, {1, 50, 400});
  settings.ingest.drop_repeats = !one_in(random, 4);
  settings.recents_bytes_max = one_of<size_t>(random, {8 << 10, 1 << 20});
  settings.served_per_user_max = one_of<size_t>(random, {1, 3, 5, 8});
  settings.filter.dense_from_items = kDenseFrom[random() % kDenseFrom.size()];
  settings.filter.false_positive_rate = one_of(random, {0.001, 0.01, 0.05});
  return settings;
}

}  // namespace bloomring::simulation
