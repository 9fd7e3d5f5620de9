// Server reflection: a client learns services and messages from the server.
//
// gRPC's library of it registers itself for every server of the process as soon as it is loaded, and each of its
// streams holds a thread. So the program does not link it, and loads it only where it is asked for.
#pragma once

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace bloomring {

// From now on every server that is started has reflection. Further calls change nothing. Thread safe.
// Errors: kInvalid when the library, which is a part of gRPC's package, cannot be loaded.
Status load_reflection();

// Reflection lists the services that are registered with the server. Ours are behind a generic one
// (serving/server/call_door.h), so these stand for them: each has the name, and one method that no client calls.
std::vector<std::unique_ptr<grpc::Service>> listed_services(const std::vector<std::string>& names);

}  // namespace bloomring
