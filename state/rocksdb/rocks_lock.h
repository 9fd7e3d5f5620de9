// The lock of a RocksDB folder, which the process that writes there holds.
//
// Errors: none; a folder that cannot be asked has no writer.
// Threading: pure but for the file system.
#pragma once

#include <sys/types.h>

#include <string>

namespace bloomring {

// The other process that holds the lock of the folder; 0 when none does.
pid_t rocks_writer(const std::string& folder);

}  // namespace bloomring
