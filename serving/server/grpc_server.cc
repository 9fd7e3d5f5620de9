#include "serving/server/grpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <climits>
#include <mutex>

#include "client/credentials.h"
#include "grpc/health/v1/health.pb.h"
#include "serving/server/grpc_log.h"
#include "serving/server/hang_up.h"

namespace bloomring {

namespace {

// In gRPC both are settings of the whole process, not of a server.
void enable_plugins(bool reflection) {
  static std::once_flag health, reflect;
  std::call_once(health, [] { grpc::EnableDefaultHealthCheckService(true); });
  if (!reflection) return;
  std::call_once(reflect, [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // Reflection describes linked protos only; gRPC's health service does not link its own.
    google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  });
}

// gRPC's limit on a message: four times the service's limit (RequestLimits::message_bytes_max), so that the service
// can refuse a large message with its reason; gRPC's own RESOURCE_EXHAUSTED asks for a retry. At most half of the
// memory for calls, if that is above the limit: gRPC may end the call of a message that takes more.
int wire_bytes_max(const GrpcServerConfig& config) {
  const size_t limit = config.service.limits.message_bytes_max;
  const size_t wanted = std::max(limit, std::min(4 * limit, config.memory_bytes_max / 2));
  return static_cast<int>(std::min<size_t>(wanted, INT_MAX));
}

// While one lives, gRPC's core logs nothing.
class SilencedCore {
 public:
  SilencedCore() { gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1)); }
  ~SilencedCore() { gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR); }
};

}  // namespace

GrpcServer::GrpcServer(const GrpcServerConfig& config, const PartitionDirectory& partitions, CandidateFilter& core,
                       EventLog* log)
    : config_(config), service_(partitions, core, log, config.service) {}

GrpcServer::~GrpcServer() { shutdown(0); }

Status GrpcServer::listen() {
  BLOOMRING_TRY(check(config_.tls));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(config_.listen, server_credentials(config_.tls), &port);
  builder.RegisterService(&service_);
  builder.SetMaxReceiveMessageSize(wire_bytes_max(config_));
  builder.SetResourceQuota(grpc::ResourceQuota("bloomring").Resize(config_.memory_bytes_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, static_cast<int>(config_.connection_age_max_ms));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(config_.ping_interval_min_ms));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0)
    return invalid("gRPC cannot listen on " + config_.listen + ": is the port taken by another process?");
  port_ = static_cast<uint16_t>(port);
  address_ = config_.listen.substr(0, config_.listen.rfind(':') + 1) + std::to_string(port);
  set_serving(false);
  return {};
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcServerConfig& config,
                                                      const PartitionDirectory& partitions, CandidateFilter& core,
                                                      EventLog* log) {
  log_grpc_lines();
  enable_plugins(config.reflection);
  std::unique_ptr<GrpcServer> server(new GrpcServer(config, partitions, core, log));
  BLOOMRING_TRY(server->listen());
  return server;
}

void GrpcServer::set_serving(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
  server_->GetHealthCheckService()->SetServingStatus(v1::BloomringService::service_full_name(), serving);
}

void GrpcServer::announce_end() { server_->GetHealthCheckService()->Shutdown(); }

void GrpcServer::shutdown(int64_t grace_ms) {
  if (server_ == nullptr || ended_) return;
  ended_ = true;
  announce_end();
  service_.end_calls(grace_ms);
  const SilencedCore silenced;  // gRPC logs the end of its listening socket as an error.
  hang_up(port_);
  server_->Shutdown(gpr_now(GPR_CLOCK_REALTIME));
  server_->Wait();
}

}  // namespace bloomring
