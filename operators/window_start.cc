#include "operators/window_start.h"

#include <algorithm>

#include "operators/log_facts.h"
#include "state/slot_length.h"

namespace bloomring {

namespace {

std::string text(Offset offset) { return std::to_string(offset.value); }

// Usable by the store; the caller checks that the log still has its position.
bool usable(const WindowState& local, const MergedWatermark& watermark) {
  return accounts_for_all(local.hours, local.applied, watermark) && local.applied >= watermark.offset;
}

HourIndex first_hour(const WindowStartFacts& facts) {
  return facts.watermark ? HourIndex(facts.watermark->hour.value + 1) : HourIndex(0);
}

// The watermark's length was changed when everything was merged: local state of another length is dropped.
Status take_slot_length(WindowStartFacts& facts) {
  if (facts.slot_ms == 0) return {};
  const int64_t merged_ms = facts.watermark ? facts.watermark->slot_ms : 0;
  BLOOMRING_TRY(check_slot_length(merged_ms, facts.slot_ms, "the merged watermark"));
  if (!facts.local) return {};
  const Status local = check_slot_length(facts.local->slot_ms, facts.slot_ms, "the window stage's local state");
  if (local.ok() || merged_ms == 0) return local;
  facts.local.reset();
  return {};
}

// Reads one record again, so that the task can check that this is the same log.
Result<WindowStart> resume(const WindowState& local, const WindowStartFacts& facts) {
  const bool lost = local.applied < facts.log_start;
  if (lost && !facts.accept_lost_events) return fatal(describe_lost_events(local.applied, facts.log_start));
  const Offset read_from = std::max(Offset(local.applied.value - 1), facts.log_start);
  const std::string gap = lost ? ", without the records up to " + text(facts.log_start) + " that the log has lost" : "";
  return WindowStart{.resume = true,
                     .read_from = read_from,
                     .base = Offset(0),
                     .first_hour = first_hour(facts),
                     .merged_below = facts.watermark.has_value(),
                     .reason = "continues at its applied offset " + text(local.applied) + gap,
                     .lost = lost};
}

// The log ends before an offset that it once had; or a broker that was frozen answers with its older log.
Status cut(const WindowStartFacts& facts, const MergedWatermark& watermark) {
  BLOOMRING_TRY(check_log_reaches(watermark, facts.log_end));
  if (!facts.local || facts.local->applied <= facts.log_end) return {};
  return retry("records up to offset " + text(facts.local->applied) +
               " were read once, but the log ends at " + text(facts.log_end) +
               ": the topic was cut or made again, and " +
               std::to_string(facts.local->applied.value - facts.log_end.value) +
               " records or more are lost. To go on without them stop everything, run `bloomring store new-log`, and "
               "remove the folders window-N in state.path of every other window process");
}

bool knows(const WindowState& local, std::string_view view) {
  return std::ranges::find(local.views, view, &ViewState::name) != local.views.end();
}

}  // namespace

bool accounts_for_all(std::span<const StagedHour> unmerged, Offset applied, const MergedWatermark& watermark) {
  Offset accounted = watermark.offset;
  for (const StagedHour& staged : unmerged) {
    if (!watermark.covers({accounted, staged.range.from})) return false;
    accounted = std::max(accounted, staged.range.to);
  }
  return watermark.covers({accounted, applied});
}

std::string describe_lost_events(Offset from, Offset log_start) {
  return std::to_string(log_start.value - from.value) + " records from offset " + text(from) +
         " are not merged and no longer in the log, which starts at " + text(log_start) +
         ": retention is too short for the outage. Restore a newer filter store, or set state.accept_lost_events to go "
         "on "
         "without them";
}

Result<WindowStart> decide_window_start(const WindowStartFacts& given) {
  WindowStartFacts facts = given;
  BLOOMRING_TRY(take_slot_length(facts));
  const MergedWatermark watermark = facts.watermark.value_or(MergedWatermark{});
  const Offset merged = watermark.offset;
  BLOOMRING_TRY(cut(facts, watermark));
  const bool continues = facts.local && facts.local->applied <= facts.log_end && usable(*facts.local, watermark);
  if (continues) return resume(*facts.local, facts);
  // Without a watermark nothing was merged: the history starts at the log's start.
  const bool lost = facts.watermark && merged < facts.log_start;
  if (lost && !facts.accept_lost_events) return fatal(describe_lost_events(merged, facts.log_start));
  const Offset read_from = std::max(Offset(merged.value - 1), facts.log_start);
  const std::string why = facts.local ? "local state does not continue the filter store: wiped, reads from offset "
                                      : "no local state: reads from offset ";
  const std::string reason = why + text(std::max(merged, facts.log_start));
  return WindowStart{.resume = false,
                     .read_from = read_from,
                     .base = merged,
                     .first_hour = first_hour(facts),
                     .merged_below = facts.watermark.has_value(),
                     .reason = reason,
                     .lost = lost};
}

Result<WindowStart> decide_window_start(const WindowStartFacts& given, std::span<const ViewWatermark> views) {
  WindowStartFacts facts = given;
  for (const ViewWatermark& of : views) BLOOMRING_TRY(cut(facts, of.watermark.value_or(MergedWatermark{})));
  const auto unknown = [&](const ViewWatermark& of) { return !knows(*facts.local, of.view); };
  if (facts.local && !facts.local->hours.empty() && std::ranges::any_of(views, unknown)) facts.local.reset();
  std::optional<WindowStart> behind;  // Of the view that is farthest behind.
  for (const ViewWatermark& of : views) {
    if (of.away) continue;
    facts.watermark = of.watermark;
    BLOOMRING_TRY_ASSIGN(WindowStart start, decide_window_start(facts));
    // One view cannot use the local state: all begin again without it.
    if (facts.local && !start.resume && views.size() > 1) {
      facts.local.reset();
      return decide_window_start(facts, views);
    }
    if (!behind || start.base < behind->base) behind = std::move(start);
  }
  const auto away = std::ranges::find_if(views, &ViewWatermark::away);
  if (away != views.end() && !(behind && behind->resume)) {
    return retry("the store of the view " + std::string(away->view) +
                 " is away, and without local state only the store knows where to begin");
  }
  const auto merged = [](const ViewWatermark& of) { return of.watermark.has_value(); };
  behind->merged_below = std::ranges::any_of(views, merged);
  return *behind;
}

}  // namespace bloomring
