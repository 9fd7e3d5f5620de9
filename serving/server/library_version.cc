#include "serving/server/library_version.h"

#include <grpcpp/grpcpp.h>

namespace bloomring {

std::string grpc_version() { return grpc::Version(); }

}  // namespace bloomring
