// Writes gRPC's own log lines to the process's log: its errors as warnings (most are about connections that others
// make), the rest as debug lines. Writes one line a second for each place in gRPC's sources, with the number of lines
// left out.
#pragma once

namespace bloomring {

// For the whole process; further calls change nothing. To be called before the first server or channel is made. Thread
// safe.
void log_grpc_lines();

}  // namespace bloomring
