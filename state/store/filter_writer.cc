#include "state/store/filter_writer.h"

#include <thread>

namespace bloomring {

Status advance_now(PartitionWriter& writer, const MergedWatermark& watermark) {
  writer.begin_advance(watermark);
  while (true) {
    if (const std::optional<Status> ended = writer.poll()) return *ended;
    std::this_thread::yield();
  }
}

}  // namespace bloomring
