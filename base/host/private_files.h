// Keeps what a process writes, and what it is told in confidence, from other users of its host.
//
// State, stores and backups hold user ids and histories; files of secrets hold passwords and tokens.
// `keep_files_private` makes every file and folder that the process creates readable by its own user alone;
// `read_secret` reads a secret from a file of any mode, and `readable_by_others` tells which modes deserve a warning.
// Threading: call `keep_files_private` and `forbid_core_dumps` once, before other threads start; the rest from any
// thread.
// Errors: kInvalid for a file that is absent, unreadable, empty or too large.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace bloomring {

// Files are made with mode 0600 and folders with 0700 from now on (umask 0077), by child processes too.
void keep_files_private();

// No core dump holds the memory of this process, and no other process of its user attaches to it (RLIMIT_CORE 0,
// PR_SET_DUMPABLE 0).
void forbid_core_dumps();

// Says how users other than the owner may read the file or list the folder, as "mode 0644"; empty when they may not, or
// when nothing is there. A file of which only a group besides the owner may read counts as private where `group_may`:
// Kubernetes mounts secrets so.
std::string readable_by_others(const std::string& path, bool group_may = false);

// The file without the line end at its end. Larger than kSecretBytesMax, or empty: kInvalid.
inline constexpr size_t kSecretBytesMax = 64 * 1024;
Result<std::string> read_secret(const std::string& path);

}  // namespace bloomring
