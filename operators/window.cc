#include "operators/window.h"

#include <cmath>

#include "base/faults/fault_point.h"
#include "schemas/event_block.h"

namespace bloomring {

namespace {

// Partitions start their passes at different points of a pass's interval: multiples of the golden ratio's fraction
// are spread evenly over [0, 1) for any number of partitions.
double phase_of(PartitionId partition) {
  const double multiple = 0.6180339887498949 * (partition.value + 1);
  return multiple - std::floor(multiple);
}

}  // namespace

Window::Window(WindowConfig config, WindowStore& store, Ring ring)
    : config_(config), store_(store), ring_(std::move(ring)) {}

Result<Refusal> Window::apply(Offset offset, int64_t log_time_ms, std::string_view block, std::string& detail) {
  auto opened = EventBlockReader::open(block, config_.partition, config_.partition_count);
  if (!opened.ok()) {
    detail = opened.status().message();
    return Refusal::kBadBlock;
  }
  const HourIndex hour = ring_.admit(offset, log_time_ms,
                                     {.events = opened->events(),
                                      .bytes = block.size(),
                                      .forgets = opened->forgets(),
                                      .newest_play_ms = opened->newest_play_ms()});
  BLOOMRING_TRY(store_.stage(hour, offset, block, ring_.state(config_.partition_count)));
  fault_point("window.staged");
  ++stats_.blocks;
  stats_.events += opened->events();
  stats_.bytes += block.size();
  return Refusal::kNone;
}

Status Window::skip(Offset offset, int64_t log_time_ms) {
  ring_.admit(offset, log_time_ms, {});
  return store_.save(ring_.state(config_.partition_count));
}

Status Window::pass_to(Offset next) {
  if (!ring_.pass_to(next)) return {};
  return store_.save(ring_.state(config_.partition_count));
}

Status Window::advance_clock(int64_t now_ms) {
  if (!ring_.advance_clock(now_ms)) return {};
  return store_.save(ring_.state(config_.partition_count));
}

void Window::start_drain(int64_t now_ms, const BatchesLog& batches) {
  auto due = ring_.next_drain(batches);
  if (!due) return;
  ++stats_.drains[static_cast<size_t>(due->attempt)];
  // Just ended: the passes are spread from the start of this hour. Older: late already, so its passes start now, in
  // 1/slots of the spread: a full ring of waiting slots takes no longer than the spread of one hour.
  const bool just_ended = due->hours.back().hour.value == ring_.hour_of(now_ms).value - 1;
  const int64_t hour_start_ms = ring_.hour_of(now_ms).value * config_.ring.slot_ms;
  const auto spread_ms = static_cast<int64_t>(static_cast<double>(config_.ring.slot_ms) * config_.drain_spread);
  drain_start_ms_ = just_ended ? hour_start_ms : now_ms;
  drain_spread_ms_ = just_ended ? spread_ms : spread_ms / config_.ring.slots;
  drain_.emplace(std::move(*due), config_.partition, config_.partition_count, config_.drain);
}

int64_t Window::pass_due_ms() const {
  const double place = (static_cast<double>(drain_->passes_done()) + phase_of(config_.partition)) /
                       static_cast<double>(drain_->passes());
  return drain_start_ms_ + static_cast<int64_t>(static_cast<double>(drain_spread_ms_) * place);
}

bool Window::abandon_if_merged() {
  if (!drain_ || ring_.drain_current(drain_->drain().id)) return false;
  ++stats_.drains_abandoned;
  drain_.reset();
  return true;
}

Status Window::drain_step(int64_t now_ms, const BatchesLog& batches, std::vector<std::string>& records) {
  abandon_if_merged();
  if (!drain_) start_drain(now_ms, batches);
  if (!drain_ || drain_->done() || now_ms < pass_due_ms()) return {};
  return drain_->next_pass(store_, records);
}

std::string Window::slot_end() const { return encode_slot_end(drain_->slot_end()); }

void Window::drain_finished() {
  if (abandon_if_merged() || !drain_) return;
  stats_.batches += drain_->slot_end().users;
  stats_.batch_plays += drain_->slot_end().plays;
  ring_.drain_finished(drain_->drain().id);
  drain_.reset();
}

void Window::drain_failed() {
  if (abandon_if_merged() || !drain_) return;
  ++stats_.drains_failed;
  ring_.drain_failed(drain_->drain().id);
  drain_.reset();
}

Status Window::merged(const MergedWatermark& watermark) {
  const std::vector<HourIndex> released = ring_.merged(watermark);
  if (released.empty()) return {};
  stats_.hours_released += released.size();
  if (drain_) drain_->drop_released(released);
  abandon_if_merged();
  BLOOMRING_TRY(store_.release(released, ring_.state(config_.partition_count)));
  fault_point("window.released");
  return {};
}

}  // namespace bloomring
