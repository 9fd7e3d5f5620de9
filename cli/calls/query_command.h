// The core of `bloomring query`: asks the service, prints JSON.
//
// One user:
// {"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"recent"},{"item":"v2","seen":false}]} on
// one line, with more fields in these cases:
// - "user_known":false: the service knows nothing of the user (in the scene);
// - "period":"2026-11": of an item found in a filter;
// - "gaps": of an incomplete answer;
// - "expected_error": when filters were read, the probability that an item which was never played counts as seen;
// - "scenes", "known_scenes": about all scenes, those asked, and those in which the user is known.
// Batch: every line of `in` is {"user":..,"scene":..,"items":[..]}, or has "all_scenes":true. Every answer is one line
// as above, in order; a line that fails gets {"line":3,"error":".."}. Integers are accepted for users and items, as in
// plays. Items beyond the limit of one request are asked in several.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "client/tls_files.h"

namespace bloomring {

struct QueryOptions {
  std::string server;  // "host:port".
  std::string user;
  std::string scene;
  bool all_scenes = false;         // Seen in any scene; ignores `scene`.
  std::vector<std::string> items;  // When empty, read from `in`, one a line.
  bool text = false;               // Answers for people (json_text.h), a block each.
  bool batch = false;              // Ignores `user`, `scene` and `items`.
  int64_t deadline_ms = 10'000;    // Of each request.
  TlsClientFiles tls = {};
};

// Returns the exit code: 0 answered (completely or not); 1 the service could not be asked or a line of a batch failed;
// 2 the service refuses the question itself, or a file of `tls` is wrong. Messages go to `err`.
int query(const QueryOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
