// The core of `bloomring snapshot`: fetches the service's knowledge of a user as one blob, and tests items against it
// locally, as a recommender does in its own process.
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
  bool strict = false;    // Fail instead of giving an incomplete snapshot.
  std::string from = {};  // A file with a blob, used instead of the service; ignores `user`.
  bool test = false;
  std::vector<std::string> items = {};  // To test. When empty, read from `in`, one a line.
  bool text = false;                    // Print the test for people (json_text.h).
  int64_t deadline_ms = 10'000;
};

// Returns the exit code: 0 done; 1 the service could not be asked or the blob is damaged; 2 the service refuses the
// question itself, or a file is wrong. Messages go to `err`.
int snapshot(const SnapshotOptions& options, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace bloomring
