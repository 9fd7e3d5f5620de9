// The arguments that determine the plays of `bloomring generate`, there and for `bloomring load`.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "load/load_model.h"

namespace bloomring::cli {

struct ModelArgs {
  uint64_t seed = 1;
  uint32_t users = 40'000;
  uint64_t plays = 4'000'000;
  uint32_t items = 1'000'000;
  uint32_t hours = 24;  // Span of the event times.
  double repeats = 0.05;
  std::string start;      // Event time of the beginning; empty: `hours` ago.
  uint32_t id_bytes = 0;  // Ids are padded to this length.
};

Result<LoadConfig> load_of(const ModelArgs& args, const Clock& clock);

}  // namespace bloomring::cli
