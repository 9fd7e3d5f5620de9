// The core of `bloomring query`: asks the service, prints JSON.
//
// One user:
// {"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"recent"},{"item":"v2","seen":false}]} on one
// line, with "user_known": false where nothing is known of the user (in the scene). An item of a filter has
// "period":"2026-11", an incomplete answer has "gaps", one for which filters were read
// "expected_error": the probability that an item which was never played counts as seen.
// About all scenes "scenes" are those that were asked, and "known_scenes" those in which the user is known.
// Batch: every line of `in` is {"user":..,"scene":..,"items":[..]}, or has "all_scenes":true; every answer is one line
// as above, in order; a line
// that fails is answered by {"line":3,"error":".."}. Integers are accepted for users and items, as in plays.
// More items than one request holds are asked in several.
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
  bool all_scenes = false;         // Seen in any scene; `scene` is not looked at.
  std::vector<std::string> items;  // Read from `in`, one a line, when there are none.
  bool text = false;               // Answers as people read them (json_text.h), a block each.
  bool batch = false;              // `user`, `scene` and `items` are not looked at.
  int64_t deadline_ms = 10'000;    // Of each request.
  TlsClientFiles tls = {};
};

// The exit code: 0 answered (completely or not), 1 the service could not be asked or a line of a batch failed, 2 the
// service refuses the question itself, or a file of `tls` is not right. Messages go to `err`.
int query(const QueryOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
