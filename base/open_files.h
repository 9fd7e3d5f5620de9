// How many files this process may have open at once: RLIMIT_NOFILE.
//
// Systems start a process with a soft limit of 1,024 and a hard one of some hundred thousand. A store takes a
// descriptor for each table file that is open, so the program raises the first to the second when it starts.
// Thread safety: `raise_open_files_limit` is called once, before there are threads; the other from any.
#pragma once

#include <cstdint>

namespace bloomring {

// The soft limit; the largest number where there is none.
uint64_t open_files_limit();
// Raises the soft limit to the hard one, as far as the system lets it, and returns what it is then.
uint64_t raise_open_files_limit();

}  // namespace bloomring
