#include "serving/server/reflection.h"

#include <dlfcn.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <mutex>
#include <utility>

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

// A stream, so that a call of it ends at its headers, as UNIMPLEMENTED.
class ListedService final : public grpc::Service {
 public:
  explicit ListedService(const std::string& name) : method_("/" + name + "/") {
    using Method = grpc::internal::RpcServiceMethod;
    using Handler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    AddMethod(new Method(method_.c_str(), Method::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(0, new Handler([](grpc::CallbackServerContext*) { return nullptr; }));
  }

 private:
  const std::string method_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> listed_services(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  for (const std::string& name : names) services.push_back(std::make_unique<ListedService>(name));
  return services;
}

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
