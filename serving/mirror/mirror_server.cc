#include "serving/mirror/mirror_server.h"

#include <utility>

#include "bloomring/v1/bloomring.grpc.pb.h"
#include "client/credentials.h"
#include "serving/mirror/mirrored_query.h"
#include "serving/server/grpc_log.h"
#include "serving/server/hang_up.h"

namespace bloomring {

namespace {

constexpr const char* kWhy = "this endpoint takes copies of queries for `bloomring shadow`, and answers none";

void leave_open(const v1::FilterRequest& request, v1::FilterResponse& response) {
  const size_t candidates = request.ids_per_candidate_size() > 0
                                ? static_cast<size_t>(request.ids_per_candidate_size())
                                : id_count(request.candidates());
  response.mutable_seen()->assign((candidates + 7) / 8, '\0');
  if (request.explain() == v1::EXPLAIN_LEVEL_CODES) response.mutable_codes()->assign(candidates, '\0');
  response.set_complete(false);
  v1::Gap& gap = *response.add_gaps();
  gap.set_source(v1::ANSWER_SOURCE_FILTERS);
  gap.set_reason(kWhy);
}

}  // namespace

using MirrorCalls = v1::BloomringService::WithCallbackMethod_Filter<
    v1::BloomringService::WithCallbackMethod_FilterBatch<v1::BloomringService::Service>>;

class MirrorServer::Service final : public MirrorCalls {
 public:
  explicit Service(const MirrorServerConfig& config) : config_(config) {}

  grpc::ServerUnaryReactor* Filter(grpc::CallbackServerContext* context, const v1::FilterRequest* request,
                                   v1::FilterResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(take(*request, *response));
    return reactor;
  }

  grpc::ServerUnaryReactor* FilterBatch(grpc::CallbackServerContext* context, const v1::FilterBatchRequest* request,
                                        v1::FilterBatchResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(take_all(*request, *response));
    return reactor;
  }

 private:
  grpc::Status refuse(const Status& reason) const {
    config_.refused();
    return {grpc::StatusCode::INVALID_ARGUMENT, reason.message()};
  }

  grpc::Status take(const v1::FilterRequest& request, v1::FilterResponse& response) const {
    Result<FilterCall> query = mirrored_query(request, config_.limits);
    if (!query.ok()) return refuse(query.status());
    config_.take(std::move(*query));
    if (request.strict()) return {grpc::StatusCode::FAILED_PRECONDITION, kWhy};
    leave_open(request, response);
    return grpc::Status::OK;
  }

  grpc::Status take_all(const v1::FilterBatchRequest& batch, v1::FilterBatchResponse& response) const {
    if (const Status checked = check(batch, config_.limits); !checked.ok()) return refuse(checked);
    for (const v1::FilterRequest& request : batch.requests()) {
      v1::FilterOutcome& outcome = *response.add_outcomes();
      const grpc::Status status = take(request, *outcome.mutable_response());
      outcome.set_code(status.error_code());
      outcome.set_message(status.error_message());
    }
    return grpc::Status::OK;
  }

  const MirrorServerConfig& config_;
};

MirrorServer::MirrorServer(MirrorServerConfig config)
    : config_(std::move(config)), service_(std::make_unique<Service>(config_)) {}

MirrorServer::~MirrorServer() { stop(); }

Result<std::unique_ptr<MirrorServer>> MirrorServer::start(MirrorServerConfig config) {
  log_grpc_lines();
  std::unique_ptr<MirrorServer> server(new MirrorServer(std::move(config)));
  BLOOMRING_TRY(server->listen());
  return server;
}

Status MirrorServer::listen() {
  BLOOMRING_TRY(check(config_.tls));
  BLOOMRING_TRY_ASSIGN(acceptor_, Acceptor::open(config_.listen, config_.connections_max));
  grpc::ServerBuilder builder;
  connections_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, server_credentials(config_.tls));
  builder.RegisterService(service_.get());
  builder.SetMaxReceiveMessageSize(static_cast<int>(config_.limits.message_bytes_max));
  builder.SetResourceQuota(grpc::ResourceQuota("mirror").Resize(config_.memory_bytes_max));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return invalid("gRPC cannot serve on " + config_.listen);
  address_ = config_.listen.substr(0, config_.listen.rfind(':') + 1) + std::to_string(acceptor_->port());
  acceptor_->start([this](int listener, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters accepted;
    accepted.listener_fd = listener;
    accepted.fd = connection;
    connections_->HandleNewConnection(&accepted);
  });
  return {};
}

void MirrorServer::stop() {
  if (server_ == nullptr || std::exchange(stopped_, true)) return;
  acceptor_->stop();
  hang_up(acceptor_->port());
  server_->Shutdown(gpr_now(GPR_CLOCK_REALTIME));
  server_->Wait();
}

}  // namespace bloomring
