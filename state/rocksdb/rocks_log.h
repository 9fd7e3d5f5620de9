// RocksDB's messages as lines of the process's log: its errors as warnings, its warnings as debug lines, no others.
//
// RocksDB's own log file is not used: in 7.8.3, after a line that could not be written (a full disk), the next line
// ends the process by an assertion (EnvLogger appends to a file that has failed). Included by sources of this folder
// only.
// Threading: thread safe.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace bloomring {

std::shared_ptr<rocksdb::Logger> make_rocks_log();

}  // namespace bloomring
