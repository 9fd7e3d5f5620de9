#include "operators/window.h"

#include <algorithm>
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

// The state with the parts of these views, in their order.
Result<WindowState> in_order_of(const Views& views, WindowState state) {
  std::vector<ViewState> ordered;
  for (const std::unique_ptr<View>& view : views) {
    const auto found = std::ranges::find(state.views, view->name(), &ViewState::name);
    if (found == state.views.end()) return corrupt("window state: it has no view " + std::string(view->name()));
    ordered.push_back(std::move(*found));
  }
  state.views = std::move(ordered);
  return state;
}

}  // namespace

Window::Window(WindowConfig config, WindowStore& store, Ring ring, Views views)
    : config_(config), store_(store), ring_(std::move(ring)) {
  for (std::unique_ptr<View>& view : views) views_.push_back({std::move(view)});
}

Result<Window> Window::open(WindowConfig config, WindowStore& store, Views views, const WindowStart& start,
                            const std::optional<WindowState>& local) {
  config.ring.views = views.size();
  if (start.resume && !local->hours.empty()) {
    BLOOMRING_TRY_ASSIGN(const WindowState state, in_order_of(views, *local));
    BLOOMRING_TRY_ASSIGN(Ring ring, Ring::restore(config.ring, state));
    Window window(config, store, std::move(ring), std::move(views));
    BLOOMRING_TRY(window.restore_views(state));
    if (!start.lost) return window;
    window.ring_.end_filling();
    for (ViewDrains& at : window.views_) at.view->lost_records();
    return window;
  }
  BLOOMRING_TRY(store.clear());
  const Offset base = start.resume ? local->applied : start.base;
  Window window(config, store, Ring(config.ring, base, start.first_hour), std::move(views));
  for (ViewDrains& at : window.views_) at.view->begin(start.merged_below);
  return window;
}

Status Window::restore_views(const WindowState& state) {
  for (size_t v = 0; v < views_.size(); ++v) BLOOMRING_TRY(views_[v].view->restore(state.views[v], state.hours));
  return {};
}

WindowState Window::state() const {
  WindowState state = ring_.state(config_.partition_count);
  for (size_t v = 0; v < views_.size(); ++v) {
    state.views[v].name = views_[v].view->name();
    views_[v].view->save(state.hours, state.views[v]);
  }
  return state;
}

void Window::set_base_log_time(int64_t log_time_ms) {
  for (ViewDrains& at : views_) at.view->set_base_log_time(log_time_ms);
}

Result<Refusal> Window::apply(Offset offset, int64_t log_time_ms, std::string_view block, std::string& detail) {
  auto opened = EventBlockReader::open(block, config_.partition, config_.partition_count);
  if (!opened.ok()) {
    detail = opened.status().message();
    return Refusal::kBadBlock;
  }
  const HourIndex hour = ring_.admit(offset, log_time_ms, {.events = opened->events(), .bytes = block.size()});
  for (ViewDrains& at : views_) at.view->note(hour, log_time_ms, &*opened);
  BLOOMRING_TRY(store_.stage(hour, offset, block, state()));
  fault_point("window.staged");
  ++stats_.blocks;
  stats_.events += opened->events();
  stats_.bytes += block.size();
  return Refusal::kNone;
}

Status Window::skip(Offset offset, int64_t log_time_ms) {
  const HourIndex hour = ring_.admit(offset, log_time_ms, {});
  for (ViewDrains& at : views_) at.view->note(hour, log_time_ms, nullptr);
  return store_.save(state());
}

Status Window::pass_to(Offset next) {
  if (!ring_.pass_to(next)) return {};
  return store_.save(state());
}

Status Window::save_time() {
  if (!ring_.filling_with_records()) return {};
  return store_.save(state());
}

Status Window::advance_clock(int64_t now_ms) {
  if (!ring_.advance_clock(now_ms)) return {};
  return store_.save(state());
}

void Window::start_drain(ViewDrains& at, Drain due, int64_t now_ms) {
  ++stats_.drains[static_cast<size_t>(due.attempt)];
  // Just ended: the passes are spread from the start of this hour. Older: late already, so its passes start now, in
  // 1/slots of the spread: a full ring of waiting slots takes no longer than the spread of one hour.
  const bool just_ended = due.hours.back().hour.value == ring_.hour_of(now_ms).value - 1;
  const int64_t hour_start_ms = ring_.hour_of(now_ms).value * config_.ring.slot_ms;
  const auto spread_ms = static_cast<int64_t>(static_cast<double>(config_.ring.slot_ms) * config_.drain_spread);
  DrainProgress& drain = at.drain.emplace();
  drain.id = due.id;
  drain.start_ms = just_ended ? hour_start_ms : now_ms;
  drain.spread_ms = just_ended ? spread_ms : spread_ms / config_.ring.slots;
  drain.drain = at.view->drain(std::move(due));
}

int64_t Window::pass_due_ms(const DrainProgress& drain) const {
  const double place = (static_cast<double>(drain.drain->passes_done()) + phase_of(config_.partition)) /
                       static_cast<double>(drain.drain->passes());
  return drain.start_ms + static_cast<int64_t>(static_cast<double>(drain.spread_ms) * place);
}

Result<bool> Window::drain_step(size_t view, int64_t now_ms, const BatchesLog& batches) {
  ViewDrains& at = views_[view];
  bool worked = false;
  if (!at.drain) {
    std::optional<Drain> due = ring_.next_drain(batches, view);
    if (!due) return false;
    start_drain(at, std::move(*due), now_ms);
    worked = true;
  }
  if (at.drain->passes_done() || now_ms < pass_due_ms(*at.drain)) return worked;
  std::vector<std::string> records;
  BLOOMRING_TRY(at.drain->drain->next_pass(store_, records));
  for (std::string& record : records) at.drain->outbox.push_back(std::move(record));
  return true;
}

void Window::drain_finished(size_t view) {
  std::optional<DrainProgress>& drain = views_[view].drain;
  const ViewDrain::Totals totals = drain->drain->totals();
  stats_.batches += totals.batches;
  stats_.batch_plays += totals.plays;
  ring_.drain_finished(drain->id);
  drain.reset();
}

Status Window::merged(size_t view, const MergedWatermark& watermark) {
  const std::vector<HourIndex> released = ring_.merged(watermark, view);
  if (std::optional<DrainProgress>& drain = views_[view].drain) {
    drain->drain->drop_merged(watermark);
    const bool current = ring_.drain_current(drain->id);
    stats_.drains_abandoned += !current;
    if (!current) drain.reset();
  }
  if (released.empty()) return {};
  stats_.hours_released += released.size();
  for (ViewDrains& at : views_) at.view->released(released);
  BLOOMRING_TRY(store_.release(released, state()));
  fault_point("window.released");
  return {};
}

size_t Window::drain_events_max() const {
  size_t most = 0;
  for (const ViewDrains& at : views_) {
    if (at.drain) most = std::max(most, at.drain->drain->totals().events_in_memory_max);
  }
  return most;
}

}  // namespace bloomring
