// The window stage's local store of one partition: the raw event blocks of the hours that are not merged yet, the facts
// about those hours, and the applied offset.
//
// Guarantees: the state and the blocks that it covers change in one atomic write. So a store that is opened after a
// crash is as it was after some earlier `stage`, `save` or `release`: never a block without its offset, never an offset
// without its block. Unflushed writes may be lost; the window stage reads their records again from the log.
// Errors: kFatal when the disk refuses (full, read-only), kCorrupt when the stored data cannot be read (the caller
// wipes and reads the log again), kInvalid when the folder belongs to another partition count.
// Threading: used by the partition's task only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

// One hour's contiguous range of offsets and its staged records.
struct StagedHour {
  HourIndex hour;
  OffsetRange range;  // Of the filling hour: up to the applied offset. May be empty.
  uint64_t events = 0;
  uint64_t bytes = 0;  // Of the staged blocks.
  bool operator==(const StagedHour&) const = default;
};

// The part of the state that belongs to one view (operators/view.h). Only the view reads its notes.
struct ViewState {
  struct Hour {
    // End of the view's topic of batches at the start of the drain whose slot end names this hour: that slot end is at
    // or after it. -1 before such a drain, and where the end was not known.
    Offset drained_behind{-1};
    std::string note = {};
    bool operator==(const Hour&) const = default;
  };
  std::string name;
  std::string note = {};
  std::vector<Hour> hours = {};  // One for each hour of the state, in their order.
  bool operator==(const ViewState&) const = default;
};

struct WindowState {
  Offset applied{0};              // The next offset to be applied.
  HourIndex filling{0};           // The hour that is filling.
  std::vector<StagedHour> hours;  // Ascending; the last is the filling one. All before are sealed and unmerged.
  uint32_t partition_count = 0;
  int64_t slot_ms = 0;      // Length of the hours; 0 in a state that does not say.
  int64_t log_time_ms = 0;  // Log time (operators/log_clock.h); 0 where it is not known.
  std::vector<ViewState> views;
  bool operator==(const WindowState&) const = default;
};

class WindowStore {
 public:
  virtual ~WindowStore() = default;

  // The stored state, or nothing when the store is new or was cleared.
  virtual Result<std::optional<WindowState>> load() = 0;
  // Stages the block of `offset` under `hour` and saves the state, in one write.
  virtual Status stage(HourIndex hour, Offset offset, std::string_view block, const WindowState& state) = 0;
  virtual Status save(const WindowState& state) = 0;
  // Calls `visit` for each staged block of the hour in offset order; stops at and returns the first failure.
  virtual Status scan(HourIndex hour, const std::function<Status(Offset, std::string_view block)>& visit) = 0;
  // The staged block of `offset`, or nothing when it is not there (a refused record, a released hour).
  virtual Result<std::optional<std::string>> find(HourIndex hour, Offset offset) = 0;
  // Saves the state without the hours, then removes their blocks: a crash in between leaves blocks that no state names.
  virtual Status release(const std::vector<HourIndex>& hours, const WindowState& state) = 0;
  // Makes all writes so far survive a crash of the process and of the machine.
  virtual Status flush() = 0;
  // Removes everything.
  virtual Status clear() = 0;
};

}  // namespace bloomring
