// Connects to the gRPC port of this process as a client does, to learn whether it still answers connections.
//
// The kernel completes connections on a port that nobody accepts from, so a connection alone proves nothing. The probe
// begins to talk, HTTP/2 or the handshake of TLS, and waits for the first byte of the answer: it comes from gRPC, past
// our own loop that accepts. So it finds a loop that stands still as well as a gRPC that does not take connections. A
// port that closes the connection instead is not deaf: it refuses, because a bound is reached or the probe has no
// client certificate.
// Threading: any thread; it blocks for at most `patience_ms`.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace bloomring {

// `address` is "host:port", with an IP address as host; the wildcard means loopback. Success: the port answered.
// Errors: kRetry when it did not within `patience_ms`, or did not connect; the message says which.
Status probe_port(const std::string& address, bool tls, int64_t patience_ms);

}  // namespace bloomring
