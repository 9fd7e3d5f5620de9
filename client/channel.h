// Opens channels to the query service, for every client of ours.
//
// A channel spreads its calls over all addresses of the server's name (round robin).
// Threading: pure function.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "client/connection_options.h"
#include "client/tls_files.h"

namespace bloomring {

struct ChannelOptions {
  std::string server;  // "host:port", or anything that gRPC resolves ("dns:///name:port").
  TlsClientFiles tls = {};
  bool own_connection = false;  // False: channels to the same server share one.
  ConnectionOptions connection = {};
};

std::shared_ptr<grpc::Channel> open_channel(const ChannelOptions& options);

}  // namespace bloomring
