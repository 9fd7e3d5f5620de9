// A view: a drain collects it from the slots of a ring, and the merge stage puts it into a store. Filters are one view
// (operators/filters/filter_view.h). The ring, the window stage and its task know views by these interfaces alone.
//
//   staged blocks --[ ViewDrain ]--> batches and slot end, in the view's topic --[ ViewMerge ]--> store and watermark
//
// Each view has a topic of batches and a merged watermark of its own: while the store of one view is away, the others
// go on. An hour stays on the ring until every view has merged it.
// Errors: those of the window store. An error stops the task.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/keyed_sum.h"
#include "base/result.h"
#include "schemas/event_block.h"
#include "schemas/watermark.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

// One drain of a view. It is cut into passes, so that it takes bounded memory and is spread over the hour.
class ViewDrain {
 public:
  virtual ~ViewDrain() = default;

  virtual size_t passes() const = 0;       // At least 1.
  virtual size_t passes_done() const = 0;  // The drain is done when it has reached `passes`.
  // Reads the staged blocks of the drain's hours, and appends the batches of the next pass or of a part of it. The same
  // drain of the same hours gives the same batches.
  virtual Status next_pass(WindowStore& store, std::vector<std::string>& records) = 0;
  // Another slot end has merged hours of this drain, and the store may have removed them. The slot end must not name
  // them: the view's store may go back to a backup without these hours, and the merge stage may then read this slot end
  // again.
  virtual void drop_merged(const MergedWatermark& watermark) = 0;
  // The record that follows all batches of the drain, summed with the key of the view's store. It names at least one
  // hour.
  virtual std::string slot_end(const SumKey& key) const = 0;

  struct Totals {
    uint64_t batches = 0;
    uint64_t plays = 0;
    size_t events_in_memory_max = 0;  // The most events at once.
  };
  virtual Totals totals() const = 0;
};

// A view of one partition at the window stage.
class View {
 public:
  virtual ~View() = default;
  virtual std::string_view name() const = 0;  // Stored with its state, so never changed.
  virtual std::unique_ptr<ViewDrain> drain(Drain drain) = 0;

  // A view that must know more of an hour than its blocks say takes notes of records, in the order of the log. One of
  // `begin` and `restore` is called before all else: `begin` on a ring without hours, below which records may be
  // merged; `restore` with the view's part of a stored state. kCorrupt when the notes cannot be read.
  virtual void begin(bool merged_below) { static_cast<void>(merged_below); }
  virtual Status restore(const ViewState& state, const std::vector<StagedHour>& hours) {
    static_cast<void>(state), static_cast<void>(hours);
    return {};
  }
  // The last record below the first one had this log time. Called where the log still has that record.
  virtual void set_base_log_time(int64_t log_time_ms) { static_cast<void>(log_time_ms); }
  // The log has lost records between the last one and the next.
  virtual void lost_records() {}
  // A record was applied to the hour. `block` is null where it was refused.
  virtual void note(HourIndex hour, int64_t log_time_ms, const EventBlockReader* block) {
    static_cast<void>(hour), static_cast<void>(log_time_ms), static_cast<void>(block);
  }
  // The hours have left the ring.
  virtual void released(const std::vector<HourIndex>& hours) { static_cast<void>(hours); }
  // Sets the notes of the state, for `restore`. The state has one entry for each of the hours.
  virtual void save(const std::vector<StagedHour>& hours, ViewState& state) const {
    static_cast<void>(hours), static_cast<void>(state);
  }
};

using Views = std::vector<std::unique_ptr<View>>;

}  // namespace bloomring
