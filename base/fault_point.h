// Named places between an effect and its commit, at which tests crash.
//
// `fault_point("window.staged")` does nothing but read one flag unless a test armed it: the simulation installs a
// handler that throws, a process test sets BLOOMRING_FAULT_POINT=window.staged:3 and the process ends itself as
// kill -9 would, the third time it comes by. The names are listed where they are used; docs/guarantees.md has the table.
// Thread safety: `fault_point` from any thread; installing a handler is for single-threaded tests.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

namespace bloomring {

namespace internal {
extern std::atomic<bool> fault_points_armed;
void fault_point_reached(std::string_view name);
}  // namespace internal

inline void fault_point(std::string_view name) {
  if (internal::fault_points_armed.load(std::memory_order_relaxed)) internal::fault_point_reached(name);
}

// Arms what the environment asks for. Called once at the start of the program.
void arm_fault_points_from_environment();

// Calls `handler` at every fault point until it is replaced by an empty one. For tests.
void set_fault_handler(std::function<void(std::string_view)> handler);

}  // namespace bloomring
