// Makes gRPC's credentials from files. gRPC reports errors in the files only at the first connection; check() of
// client/tls_files.h finds most of them before.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "client/tls_files.h"

namespace bloomring {

std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsServerFiles& files);
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const TlsClientFiles& files);

}  // namespace bloomring
