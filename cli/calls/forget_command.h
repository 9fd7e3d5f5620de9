// The core of `bloomring forget`: makes a user unsee items, or everything in a scene or in all scenes. Returns when
// the forget is durable in the log.
//
// Prints {"user":"u1","forgotten":["v1","v2"]} or {"user":"u1","forgotten":"everything"} on one line. Each item is a
// call. When one fails, the items before it are forgotten; forgetting all of them again is harmless.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "client/tls_files.h"

namespace bloomring {

struct ForgetOptions {
  std::string server = {};  // "host:port".
  TlsClientFiles tls = {};
  std::string user = {};
  std::string scene = {};
  bool all_scenes = false;  // Then `scene` is ignored.
  std::vector<std::string> items = {};
  bool everything = false;       // Then `items` is empty.
  bool text = false;  // Print for people (json_text.h).
  int64_t deadline_ms = 10'000;  // Of each call.
};

// Returns the exit code: 0 forgotten; 1 it could not be written; 2 the service refuses the call itself, or a file of
// `tls` is wrong. Messages go to `err`.
int forget(const ForgetOptions& options, std::ostream& out, std::ostream& err);

}  // namespace bloomring
