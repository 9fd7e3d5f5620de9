// How many files this process may have open at once: RLIMIT_NOFILE.
//
// Systems start a process with a soft limit of 1,024 and a hard one of some hundred thousand. A store takes a
// descriptor for each table file that is open, so the program raises the soft limit to the hard one when it starts.
// Threading: call `raise_open_files_limit` once, before other threads start; `open_files_limit` from any thread.
#pragma once

#include <cstdint>

namespace bloomring {

// The soft limit; UINT64_MAX where there is none, 0 where the system does not report it.
uint64_t open_files_limit();
// Raises the soft limit to the hard one, as far as the system allows, and returns the soft limit in force.
uint64_t raise_open_files_limit();

}  // namespace bloomring
