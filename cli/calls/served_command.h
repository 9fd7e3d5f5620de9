// The core of `bloomring served`: reports what was shown to a user, and returns when it is durable in the log.
//
// Prints {"user":"u1","recorded":2} on one line. More items than one call takes are recorded in several, in order; when
// one fails, those before it are recorded, and recording all of them again is harmless.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "client/tls_files.h"

namespace bloomring {

struct ServedOptions {
  std::string server = {};  // "host:port".
  TlsClientFiles tls = {};
  std::string user = {};
  std::string scene = {};
  // In the order in which they were shown; read from `in`, one a line, when there are none.
  std::vector<std::string> items = {};
  bool text = false;  // Print it as people read it (json_text.h).
  int64_t deadline_ms = 10'000;  // Of each call.
};

// The exit code: 0 recorded, 1 it could not be recorded, 2 the service refuses the call itself, or a
// file of `tls` is not right. Messages go to `err`.
int served(const ServedOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
