#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <numeric>
#include <optional>

#include "client/client_connections.h"
#include "client/client_messages.h"

namespace bloomring {

namespace {

// A batch during its call, over all attempts.
class BatchCall {
 public:
  explicit BatchCall(const std::vector<FilterCall>& calls)
      : calls_(calls), replies_(calls.size()), pending_(calls.size()) {
    std::iota(pending_.begin(), pending_.end(), size_t{0});
  }

  // Asks about the users without an answer so far; UNAVAILABLE when some still have none.
  grpc::Status ask(ClientConnections::Stub& stub, grpc::ClientContext& context) {
    v1::FilterBatchRequest request;
    for (const size_t i : pending_) *request.add_requests() = to_request(calls_[i]);
    v1::FilterBatchResponse response;
    const grpc::Status status = stub.FilterBatch(&context, request, &response);
    if (!status.ok()) {
      for (const size_t i : pending_) replies_[i] = from_grpc(status);
      return status;
    }
    return take(response);
  }

  std::vector<std::optional<Result<FilterReply>>>& replies() { return replies_; }

 private:
  grpc::Status take(const v1::FilterBatchResponse& response) {
    const std::vector<size_t> asked = std::exchange(pending_, {});
    if (static_cast<size_t>(response.outcomes_size()) != asked.size()) {
      for (const size_t i : asked) replies_[i] = corrupt("the answer is for another number of users");
      return grpc::Status::OK;
    }
    for (size_t o = 0; o < asked.size(); ++o) {
      const v1::FilterOutcome& outcome = response.outcomes(static_cast<int>(o));
      const size_t i = asked[o];
      if (outcome.code() == grpc::StatusCode::OK) {
        replies_[i] = to_reply(outcome.response(), calls_[i].items.size());
      } else {
        replies_[i] = from_grpc({static_cast<grpc::StatusCode>(outcome.code()), outcome.message()});
        if (outcome.code() == grpc::StatusCode::UNAVAILABLE) pending_.push_back(i);
      }
    }
    return pending_.empty() ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "of some users");
  }

  const std::vector<FilterCall>& calls_;
  std::vector<std::optional<Result<FilterReply>>> replies_;
  std::vector<size_t> pending_;  // Indices of `calls_`.
};

}  // namespace

struct Client::Impl {
  explicit Impl(const ClientOptions& client_options) : options(client_options), connections(client_options) {}

  const ClientOptions options;
  ClientConnections connections;

  int64_t deadline_ms(const CallOptions& call) const {
    return call.deadline_ms != 0 ? call.deadline_ms : options.deadline_ms;
  }
  int64_t write_deadline_ms(const CallOptions& call) const {
    return call.deadline_ms == 0 && options.write_deadline_ms != 0 ? options.write_deadline_ms : deadline_ms(call);
  }
  // The reply, or the open reply if it failed and the client and this call fail open.
  Result<FilterReply> opened(const FilterCall& call, Result<FilterReply> reply) const {
    if (reply.ok() || !options.fail_open || call.strict) return reply;
    if (reply.code() != Code::kRetry && reply.code() != Code::kFatal) return reply;
    return open_reply(call.items.size(), std::move(reply).status());
  }
  Status forget(v1::ForgetRequest& request, const std::string& user, const std::string& scene,
                const CallOptions& call);
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

std::unique_ptr<Client> Client::connect(const ClientOptions& options) {
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(options)));
}

Result<FilterReply> Client::filter(const FilterCall& call, const CallOptions& options) {
  const v1::FilterRequest request = to_request(call);
  v1::FilterResponse response;
  const Status status = from_grpc(
      impl_->connections.call(impl_->deadline_ms(options), [&](auto& stub, grpc::ClientContext& context) {
        return stub.Filter(&context, request, &response);
      }));
  if (status.ok()) return to_reply(response, call.items.size());
  return impl_->opened(call, status);
}

Result<std::vector<Result<FilterReply>>> Client::filter_batch(const std::vector<FilterCall>& calls,
                                                              const CallOptions& options) {
  BatchCall batch(calls);
  const grpc::Status status =
      impl_->connections.call(impl_->deadline_ms(options), [&](auto& stub, grpc::ClientContext& context) {
        return batch.ask(stub, context);
      });
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) return from_grpc(status);
  std::vector<Result<FilterReply>> replies;
  for (size_t i = 0; i < calls.size(); ++i) {
    replies.push_back(impl_->opened(calls[i], std::move(batch.replies()[i]).value()));
  }
  return replies;
}

Result<std::string> Client::snapshot(const std::string& user, const std::string& scene, bool strict,
                                     const CallOptions& options) {
  v1::GetSnapshotRequest request;
  request.set_user(user);
  request.set_scene(scene);
  request.set_strict(strict);
  v1::GetSnapshotResponse response;
  BLOOMRING_TRY(from_grpc(
      impl_->connections.call(impl_->deadline_ms(options), [&](auto& stub, grpc::ClientContext& context) {
        return stub.GetSnapshot(&context, request, &response);
      })));
  return std::move(*response.mutable_snapshot());
}

Status Client::record_served(const std::string& user, const std::string& scene, const std::vector<std::string>& items,
                             const CallOptions& options) {
  v1::RecordServedRequest request;
  request.set_user(user);
  request.set_scene(scene);
  pack(items, *request.mutable_items());
  v1::RecordServedResponse response;
  return from_grpc(
      impl_->connections.call(impl_->write_deadline_ms(options), [&](auto& stub, grpc::ClientContext& context) {
        return stub.RecordServed(&context, request, &response);
      }));
}

Status Client::Impl::forget(v1::ForgetRequest& request, const std::string& user, const std::string& scene,
                            const CallOptions& call) {
  request.set_user(user);
  request.set_scene(scene);
  v1::ForgetResponse response;
  return from_grpc(connections.call(write_deadline_ms(call), [&](auto& stub, grpc::ClientContext& context) {
    return stub.Forget(&context, request, &response);
  }));
}

Status Client::forget(const std::string& user, const std::string& scene, const std::string& item,
                      const CallOptions& options) {
  v1::ForgetRequest request;
  request.set_item(item);
  return impl_->forget(request, user, scene, options);
}

Status Client::forget_everything(const std::string& user, const std::string& scene, const CallOptions& options) {
  v1::ForgetRequest request;
  request.set_everything(true);
  return impl_->forget(request, user, scene, options);
}

Status Client::forget_in_all_scenes(const std::string& user, const std::string& item, const CallOptions& options) {
  v1::ForgetRequest request;
  request.set_item(item);
  request.set_all_scenes(true);
  return impl_->forget(request, user, "", options);
}

Status Client::forget_everything_in_all_scenes(const std::string& user, const CallOptions& options) {
  v1::ForgetRequest request;
  request.set_everything(true);
  request.set_all_scenes(true);
  return impl_->forget(request, user, "", options);
}

}  // namespace bloomring
