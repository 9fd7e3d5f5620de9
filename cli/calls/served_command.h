// The core of `bloomring served`: records the items shown to a user, and returns when they are durable in the log.
//
// Prints {"user":"u1","recorded":2} on one line. Items beyond the limit of one call are recorded in several, in order.
// When one call fails, the items before it are recorded; recording all of them again is harmless.
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
  // In the order in which they were shown. When empty, read from `in`, one a line.
  std::vector<std::string> items = {};
  bool text = false;  // Print for people (json_text.h).
  int64_t deadline_ms = 10'000;  // Of each call.
};

// Returns the exit code: 0 recorded; 1 it could not be recorded; 2 the service refuses the call itself, or a file of
// `tls` is wrong. Messages go to `err`.
int served(const ServedOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
