// gRPC's own lines as lines of the process's log: its errors as warnings (most are of connections that others make),
// the rest as debug lines. Of the same place in gRPC's sources one line a second is written, with the number of those
// that were left out.
#pragma once

namespace bloomring {

// For the whole process; more calls change nothing. Before the first server or channel is made. Thread safe.
void log_grpc_lines();

}  // namespace bloomring
