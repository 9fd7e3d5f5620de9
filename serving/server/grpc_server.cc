#include "serving/server/grpc_server.h"

#include <grpc/support/log.h>

#include <algorithm>
#include <climits>

#include "client/credentials.h"
#include "serving/server/grpc_log.h"
#include "serving/server/hang_up.h"
#include "serving/server/reflection.h"

namespace bloomring {

namespace {

// For TLS; a connection that has said nothing by then is closed.
constexpr int kHandshakeMs = 10'000;

// gRPC's limit on a message: four times the service's limit (RequestLimits::message_bytes_max), so that the service
// can refuse a large message with its reason; gRPC's own RESOURCE_EXHAUSTED asks for a retry. At most half of the
// memory for calls, if that is above the limit: gRPC may end the call of a message that takes more.
int wire_bytes_max(const GrpcServerConfig& config) {
  const size_t limit = config.service.limits.message_bytes_max;
  const size_t wanted = std::max(limit, std::min(4 * limit, config.memory_bytes_max / 2));
  return static_cast<int>(std::min<size_t>(wanted, INT_MAX));
}

// A message of some kilobytes inflates to as many megabytes, past every bound of ours.
void refuse_compressed(grpc::ServerBuilder& builder) {
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
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
    : config_(config),
      places_(config.calls_max),
      service_(partitions, core, log, places_, config.service),
      health_(places_, v1::BloomringService::service_full_name()),
      door_(places_, service_, health_) {}

GrpcServer::~GrpcServer() { shutdown(0); }

Status GrpcServer::listen() {
  BLOOMRING_TRY(check(config_.tls));
  BLOOMRING_TRY_ASSIGN(acceptor_, Acceptor::open(config_.listen, config_.connections_max()));
  grpc::ServerBuilder builder;
  connections_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, server_credentials(config_.tls));
  builder.RegisterCallbackGenericService(&door_);
  if (config_.reflection) {
    listed_ = listed_services({v1::BloomringService::service_full_name(), HealthCalls::kName});
    for (const auto& service : listed_) builder.RegisterService(service.get());
  }
  refuse_compressed(builder);
  builder.SetMaxReceiveMessageSize(wire_bytes_max(config_));
  builder.SetResourceQuota(
      grpc::ResourceQuota("bloomring").Resize(config_.memory_bytes_max).SetMaxThreads(config_.threads_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, config_.streams_max);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, static_cast<int>(config_.connection_age_max_ms));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, static_cast<int>(config_.connection_grace_ms));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, static_cast<int>(config_.connection_idle_max_ms));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(config_.ping_interval_min_ms));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return invalid("gRPC cannot serve on " + config_.listen);
  address_ = config_.listen.substr(0, config_.listen.rfind(':') + 1) + std::to_string(acceptor_->port());
  acceptor_->start([this](int listener, int connection) { give(listener, connection); });
  return {};
}

void GrpcServer::give(int listener, int connection) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters accepted;
  accepted.listener_fd = listener;
  accepted.fd = connection;
  connections_->HandleNewConnection(&accepted);
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcServerConfig& config,
                                                      const PartitionDirectory& partitions, CandidateFilter& core,
                                                      EventLog* log) {
  log_grpc_lines();
  if (config.reflection) BLOOMRING_TRY(load_reflection());
  std::unique_ptr<GrpcServer> server(new GrpcServer(config, partitions, core, log));
  BLOOMRING_TRY(server->listen());
  return server;
}

void GrpcServer::set_serving(bool serving) { health_.set_serving(serving); }

void GrpcServer::announce_end() { health_.end(); }

void GrpcServer::shutdown(int64_t grace_ms) {
  if (server_ == nullptr || ended_) return;
  ended_ = true;
  announce_end();
  service_.end_calls(grace_ms);
  acceptor_->stop();
  const SilencedCore silenced;  // gRPC logs connections that end so as errors.
  hang_up(acceptor_->port());
  server_->Shutdown(gpr_now(GPR_CLOCK_REALTIME));
  server_->Wait();
}

}  // namespace bloomring
