// Explains why a service could not be asked, for the command line: gRPC's words and their usual meaning.
// Threading: pure function.
#pragma once

#include <string>

#include "base/result.h"
#include "client/tls_files.h"

namespace bloomring {

// "127.0.0.1:7700: Socket closed; the service may want TLS: name its authority with --tls-ca".
std::string ask_failure(const std::string& server, const TlsClientFiles& tls, const Status& status);

}  // namespace bloomring
