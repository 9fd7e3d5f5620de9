// The PEM files that secure the gRPC port and the channels to it. gRPC reads them again every ten seconds, so new
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
  std::string client_ca = {};  // CA of client certificates; empty: any client may connect.

  bool enabled() const { return !certificate.empty(); }
};

// Of a client. Without a CA the channel is not encrypted.
struct TlsClientFiles {
  std::string ca = {};           // CA of the server's certificate, which must name the host.
  std::string certificate = {};  // The client's own; empty: none.
  std::string key = {};

  bool enabled() const { return !ca.empty(); }
};

// kInvalid naming the file that cannot be read or is not PEM, or the file that another one requires. A key that does
// not belong to its certificate shows only at the first connection.
Status check(const TlsServerFiles& files);
Status check(const TlsClientFiles& files);

}  // namespace bloomring
