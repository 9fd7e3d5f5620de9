#include "serving/server/reflection.h"

#include <dlfcn.h>

#include <mutex>
#include <string>

#include "grpc/health/v1/health.pb.h"
#include "serving/server/library_version.h"

namespace bloomring {

namespace {

// "libgrpc++_reflection.so.1.51": with the version of the gRPC that runs.
std::string library_name() {
  const std::string version = grpc_version();
  return "libgrpc++_reflection.so." + version.substr(0, version.find('.', version.find('.') + 1));
}

Status load() {
  if (::dlopen(library_name().c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return invalid(std::string("server reflection cannot be loaded: ") + ::dlerror());
  // Reflection describes linked protos only; gRPC's health service does not link its own.
  google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  return {};
}

}  // namespace

Status load_reflection() {
  static std::mutex mutex;
  static bool loaded = false;
  const std::lock_guard lock(mutex);
  if (loaded) return {};
  BLOOMRING_TRY(load());
  loaded = true;
  return {};
}

}  // namespace bloomring
