// The options of a Client (client.h), and of one of its calls. Values.
#pragma once

#include <cstdint>
#include <string>

#include "client/connection_options.h"
#include "client/tls_files.h"

namespace bloomring {

struct RetryOptions {
  int attempts_max = 3;        // Of one call, the first one included; 1: no retries.
  int64_t pause_ms = 20;       // After every server was tried once; doubled each time.
  int64_t pause_max_ms = 500;  // The client waits a random half to whole of each pause.
};

struct ClientOptions {
  // "host:port", or anything that gRPC resolves ("dns:///name:port"); several with commas between.
  std::string server = {};
  int64_t deadline_ms = 1'000;  // Of each call, its retries included.
  bool fail_open = true;
  TlsClientFiles tls = {};        // Encrypted when a CA is named.
  int64_t write_deadline_ms = 0;  // Of calls that write, which wait for the log; 0: `deadline_ms`.
  RetryOptions retry = {};
  ConnectionOptions connection = {};
};

// Of one call.
struct CallOptions {
  int64_t deadline_ms = 0;  // 0: the client's.
};

}  // namespace bloomring
