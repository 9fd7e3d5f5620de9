// RocksDB's messages as lines of the process's log: its errors as warnings, the rest that it is asked for as debug
// lines.
//
// Its own log file is not used: in 7.8.3 a line that cannot be written, as on a full disk, ends the process by an
// assertion at the next line (EnvLogger appends to a file that has failed).
// Included by sources of this folder only. Threading: thread safe.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace bloomring {

std::shared_ptr<rocksdb::Logger> make_rocks_log();

}  // namespace bloomring
