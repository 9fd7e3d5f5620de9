// The core of `bloomring snapshot`: fetches everything that the service knows of a user as one blob, and tests items
// against it here, as a recommender would do in its own process.
//
// Without `test` the blob goes to `out`, byte for byte, and nothing else. With it, out is
// {"user":"u1","complete":true,"made_at_ms":1795248000000,"expected_error":0.0001,"items":[{"item":"v1",..}]}
// on one line, with items as `bloomring query` prints them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "client/tls_files.h"

namespace bloomring {

struct SnapshotOptions {
  std::string server = {};  // "host:port".
  TlsClientFiles tls = {};
  std::string user = {};
  std::string scene = {};
  bool strict = false;    // A failure instead of an incomplete snapshot.
  std::string from = {};  // A file with a blob; the service is not asked, and `user` not looked at, when it is named.
  bool test = false;
  std::vector<std::string> items = {};  // To test; read from `in`, one a line, when there are none.
  bool text = false;                    // Print the test as people read it (json_text.h).
  int64_t deadline_ms = 10'000;
};

// The exit code: 0 done, 1 the service could not be asked or the blob is damaged, 2 the service refuses the question
// itself, or a file is not right. Messages go to `err`.
int snapshot(const SnapshotOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
