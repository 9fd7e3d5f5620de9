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

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/window/window_state.h"

namespace bloomring {

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
