// Named places between an effect and its commit, at which tests crash, stall, or make an operation fail.
//
// A build without fault points, such as what is shipped (option BLOOMRING_FAULT_POINTS of CMake), has nothing at these
// places. In a build with them `fault_point("window.staged")` reads one flag unless a test armed it. The simulation
// installs a handler that throws. The environment arms a process (base/faults/fault_environment.h):
//
//   BLOOMRING_FAULT_POINT=window.staged:3          ends the process at the third visit, as kill -9 would
//   BLOOMRING_FAULT_POINT=store.read:1=stall:2000  holds the thread for 2 s at the first visit
//   BLOOMRING_FAULT_POINT=store.apply:2=fail:50    returns kRetry 50 times in a row, from the second visit on
//
// Commas separate several of these. Only `injected_failure` can fail; other points ignore `fail`. The names are listed
// where they are used; docs/guarantees.md has the table.
// Threading: `fault_point` and `injected_failure` from any thread. Arm, and set handlers, before other threads start.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "base/result.h"

#ifndef BLOOMRING_FAULT_POINTS
#error "name this source in bloomring_fault_points() of its CMakeLists.txt"
#endif

namespace bloomring {

#if BLOOMRING_FAULT_POINTS

namespace internal {
extern std::atomic<bool> fault_points_armed;
Status fault_point_reached(std::string_view name);
}  // namespace internal

inline void fault_point(std::string_view name) {
  if (!internal::fault_points_armed.load(std::memory_order_relaxed)) return;
  static_cast<void>(internal::fault_point_reached(name));
}

// A fault point before an operation on something outside: success, or the kRetry to return instead of operating.
inline Status injected_failure(std::string_view name) {
  if (!internal::fault_points_armed.load(std::memory_order_relaxed)) return {};
  return internal::fault_point_reached(name);
}

// Replaces the armed points by those of `text`. kInvalid, and no change, when `text` cannot be read.
Status arm_fault_points(std::string_view text);

// Calls `handler` at every fault point until an empty one replaces it. For tests.
void set_fault_handler(std::function<void(std::string_view)> handler);

#else

inline void fault_point(std::string_view) {}
inline Status injected_failure(std::string_view) { return {}; }

#endif

}  // namespace bloomring
