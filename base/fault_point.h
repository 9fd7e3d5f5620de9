// Named places between an effect and its commit, at which tests crash, stall, or make an operation fail.
//
// `fault_point("window.staged")` does nothing but read one flag unless a test armed it: the simulation installs a
// handler that throws; a process is armed by its environment, as
//
//   BLOOMRING_FAULT_POINT=window.staged:3          ends the process, as kill -9 would, the third time it comes by
//   BLOOMRING_FAULT_POINT=store.read:1=stall:2000  holds the thread for 2 s, the first time
//   BLOOMRING_FAULT_POINT=store.apply:2=fail:50    50 times in a row, from the second on, kRetry instead
//
// or several of these with commas between them. Only `injected_failure` can fail; other points ignore `fail`.
// The names are listed where they are used; docs/guarantees.md has the table.
// Thread safety: `fault_point` and `injected_failure` from any thread; arming and handlers before there are others.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace bloomring {

namespace internal {
extern std::atomic<bool> fault_points_armed;
Status fault_point_reached(std::string_view name);
}  // namespace internal

inline void fault_point(std::string_view name) {
  if (!internal::fault_points_armed.load(std::memory_order_relaxed)) return;
  static_cast<void>(internal::fault_point_reached(name));
}

// The same in front of an operation on something outside: success, or the kRetry to return in its place.
inline Status injected_failure(std::string_view name) {
  if (!internal::fault_points_armed.load(std::memory_order_relaxed)) return {};
  return internal::fault_point_reached(name);
}

// Arms what `text` asks for, in place of what was armed before. kInvalid, and nothing is armed, when it cannot be read.
Status arm_fault_points(std::string_view text);
// The same with BLOOMRING_FAULT_POINT, when it is set. Called once at the start of the program.
Status arm_fault_points_from_environment();

// Calls `handler` at every fault point until it is replaced by an empty one. For tests.
void set_fault_handler(std::function<void(std::string_view)> handler);

}  // namespace bloomring
