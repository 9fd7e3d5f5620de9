#include "pipeline/tasks/window_metrics.h"

#include "pipeline/tasks/dead_letter_metrics.h"

namespace bloomring {

SeriesTable<WindowCounts> window_series() {
  using namespace metric;
  using Counts = WindowCounts;
  const auto drains = [](DrainAttempt attempt) {
    return [attempt](const Counts& counts) {
      return static_cast<double>(counts.drains[static_cast<size_t>(attempt)]);
    };
  };
  return {
      {&kWindowRecords, {}, &Counts::blocks},
      {&kWindowEvents, {}, &Counts::events},
      {&kWindowBytes, {}, &Counts::bytes},
      {&kHoursReleased, {}, &Counts::hours_released},
      {&kDrains, {"first"}, drains(DrainAttempt::kFirst)},
      {&kDrains, {"second"}, drains(DrainAttempt::kSecond)},
      {&kDrains, {"lap"}, drains(DrainAttempt::kLap)},
      {&kSlotsJoined, {}, &Counts::slots_joined},
      {&kDrainsAbandoned, {}, &Counts::drains_abandoned},
      {&kBatches, {}, &Counts::batches},
      {&kBatchPlays, {}, &Counts::batch_plays},
      {&kDeadLetters, {"window", "bad_block"}, &Counts::dead_letters},
  };
}

}  // namespace bloomring
