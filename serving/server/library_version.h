// The version of gRPC that this program runs with: "1.51.1".
#pragma once

#include <string>

namespace bloomring {

std::string grpc_version();

}  // namespace bloomring
