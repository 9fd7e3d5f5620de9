#include "pipeline/tasks/ingest_lanes.h"

namespace bloomring {

IngestLanes::IngestLanes(size_t partitions, size_t lane_max, int64_t patience_ms)
    : lane_max_(lane_max), patience_ms_(patience_ms), lanes_(partitions + 1) {}

void IngestLanes::queue(size_t lane, int64_t now_ms) {
  Lane& at = lanes_[lane];
  if (!at.waits()) at.silent_since_ms = now_ms;
  ++at.queued;
  if (!at.shut) ++queued_;
}

void IngestLanes::send(size_t lane) {
  Lane& at = lanes_[lane];
  --at.queued;
  ++at.in_flight;
  if (at.shut) return;
  --queued_;
  ++in_flight_;
}

void IngestLanes::acknowledge(size_t lane, int64_t now_ms) {
  Lane& at = lanes_[lane];
  --at.in_flight;
  at.silent_since_ms = now_ms;
  if (!at.shut) --in_flight_;
}

void IngestLanes::drop_queued() {
  for (Lane& lane : lanes_) lane.queued = 0;
  queued_ = 0;
}

std::vector<size_t> IngestLanes::shut_stalled(int64_t now_ms) {
  std::vector<size_t> stalled_lanes;
  bool any_flows = false;
  for (size_t i = 0; i < letters(); ++i) {
    if (lanes_[i].shut) continue;
    if (stalled(lanes_[i], now_ms)) {
      stalled_lanes.push_back(i);
    } else {
      any_flows = true;
    }
  }
  if (!any_flows) return {};
  for (const size_t i : stalled_lanes) {
    lanes_[i].shut = true;
    ++shut_count_;
    queued_ -= lanes_[i].queued;
    in_flight_ -= lanes_[i].in_flight;
  }
  return stalled_lanes;
}

std::vector<size_t> IngestLanes::open_again() {
  std::vector<size_t> opened;
  if (shut_count_ == 0) return opened;
  for (size_t i = 0; i < letters(); ++i) {
    if (!lanes_[i].shut || lanes_[i].waits()) continue;
    lanes_[i].shut = false;
    --shut_count_;
    opened.push_back(i);
  }
  return opened;
}

}  // namespace bloomring
