#include "state/slot_length.h"

namespace bloomring {

Status check_slot_length(int64_t stored_ms, int64_t configured_ms, std::string_view where) {
  if (stored_ms == 0 || stored_ms == configured_ms) return {};
  return invalid("ring.slot_seconds is " + std::to_string(configured_ms / 1000) + ", but " + std::string(where) +
                 " was written with " + std::to_string(stored_ms / 1000) + ": set " +
                 std::to_string(stored_ms / 1000) +
                 " again. To change it, stop ingest, let everything be merged with the old value, stop all processes "
                 "and run `bloomring store slot-length` with the new one");
}

Result<MergedWatermark> with_slot_length(const MergedWatermark& watermark, int64_t slot_ms, Offset log_end) {
  if (watermark.offset < log_end) {
    return invalid(std::to_string(log_end.value - watermark.offset.value) +
                   " records of the log are not merged: run all stages but ingest with the old ring.slot_seconds "
                   "until they are");
  }
  if (watermark.slot_ms == 0) {
    return invalid(
        "the length of its slots is not known: an older version wrote it. Let one more slot be merged with the old "
        "ring.slot_seconds");
  }
  if (watermark.slot_ms == slot_ms) return watermark;
  MergedWatermark changed = watermark;
  const int64_t merged_to_ms = (watermark.hour.value + 1) * watermark.slot_ms;
  changed.hour = HourIndex((merged_to_ms + slot_ms - 1) / slot_ms - 1);
  changed.slot_ms = slot_ms;
  return changed;
}

}  // namespace bloomring
