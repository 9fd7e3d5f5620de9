// Which files secure the gRPC port and the channels to it. PEM files; they are read again every ten seconds, so new
// certificates need no restart: replace a certificate and its key together (rename a folder or a link).
// Threading: values and pure functions.
#pragma once

#include <string>

#include "base/result.h"

namespace bloomring {

// Of a server. Without a certificate the port is not encrypted.
struct TlsServerFiles {
  std::string certificate = {};  // The chain, the server's own first.
  std::string key = {};
  std::string client_ca = {};  // Who vouches for clients; empty: any client may ask.

  bool enabled() const { return !certificate.empty(); }
};

// Of a client. Without a CA the channel is not encrypted.
struct TlsClientFiles {
  std::string ca = {};           // Who vouches for the server; its certificate must name the host that is asked.
  std::string certificate = {};  // What the client shows of itself; empty: nothing.
  std::string key = {};

  bool enabled() const { return !ca.empty(); }
};

// kInvalid naming the file that cannot be read or is not PEM, or what is missing beside another one. Whether a key
// belongs to its certificate shows at the first connection only.
Status check(const TlsServerFiles& files);
Status check(const TlsClientFiles& files);

}  // namespace bloomring
