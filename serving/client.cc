#include "serving/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "schemas/bloomring.grpc.pb.h"
#include "serving/channel.h"

namespace bloomring {

namespace {

constexpr uint8_t kFilterCode = 16;  // schemas/bloomring.proto, FilterResponse.codes.

constexpr size_t kPackedIdBytesMax = 255;  // What a byte of PackedIds.lengths can say.

// What cannot be packed goes as text, for the service to refuse it with its reason.
void pack(const std::vector<std::string>& items, v1::Ids& ids) {
  if (items.empty()) return;
  if (std::ranges::any_of(items, [](const std::string& item) { return item.size() > kPackedIdBytesMax; })) {
    ids.mutable_text()->Add(items.begin(), items.end());
    return;
  }
  v1::PackedIds& packed = *ids.mutable_packed();
  for (const std::string& item : items) {
    packed.mutable_bytes()->append(item);
    packed.mutable_lengths()->push_back(static_cast<char>(item.size()));
  }
}

v1::FilterRequest to_request(const FilterCall& call) {
  v1::FilterRequest request;
  request.set_user(call.user);
  request.set_scene(call.scene);
  pack(call.items, *request.mutable_candidates());
  pack(call.client_seen, *request.mutable_client_seen());
  request.set_min_keep(call.min_keep);
  request.set_strict(call.strict);
  request.set_explain(v1::EXPLAIN_CODES);
  return request;
}

ItemVerdict to_verdict(const v1::FilterResponse& response, size_t i) {
  ItemVerdict verdict;
  verdict.seen = (static_cast<uint8_t>(response.seen()[i / 8]) >> (i % 8)) & 1;
  const auto code = static_cast<uint8_t>(response.codes()[i]);
  verdict.reason = code >= kFilterCode ? Reason::kFilter : static_cast<Reason>(code);
  if (code >= kFilterCode && code - kFilterCode < response.periods_size())
    verdict.period = response.periods(code - kFilterCode);
  return verdict;
}

std::vector<Gap> to_gaps(const google::protobuf::RepeatedPtrField<v1::Gap>& in) {
  std::vector<Gap> gaps;
  for (const v1::Gap& gap : in) {
    gaps.push_back(
        {static_cast<AnswerSource>(gap.source()), gap.reason(), static_cast<int64_t>(gap.lag_seconds() * 1000)});
  }
  return gaps;
}

Result<FilterReply> to_reply(const v1::FilterResponse& response, size_t items) {
  if (response.seen().size() != (items + 7) / 8 || response.codes().size() != items) {
    return corrupt("the answer is for another number of items");
  }
  FilterReply reply;
  for (size_t i = 0; i < items; ++i) reply.items.push_back(to_verdict(response, i));
  reply.complete = response.complete();
  reply.gaps = to_gaps(response.gaps());
  reply.user_known = response.user_known();
  reply.expected_error = response.expected_error();
  reply.saturated = response.saturated();
  return reply;
}

Status from_grpc(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: return bad_record(status.error_message());
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return retry(status.error_message());
    default: return fatal("gRPC status " + std::to_string(status.error_code()) + ": " + status.error_message());
  }
}

FilterReply open_reply(size_t items, Status error) {
  FilterReply reply;
  reply.items.resize(items);
  reply.gaps.push_back({AnswerSource::kFilters, "service: " + error.message()});
  reply.error = std::move(error);
  return reply;
}

}  // namespace

struct Client::Impl {
  ClientOptions options;
  std::unique_ptr<v1::BloomringService::Stub> stub;

  void set_deadline(grpc::ClientContext& context) const {
    const gpr_timespec wait = gpr_time_from_millis(options.deadline_ms, GPR_TIMESPAN);
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), wait));
  }
  Status forget(v1::ForgetRequest& request, const std::string& user, const std::string& scene) const;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

std::unique_ptr<Client> Client::connect(const ClientOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->stub = v1::BloomringService::NewStub(open_channel({.server = options.server, .tls = options.tls}));
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Result<FilterReply> Client::filter(const FilterCall& call) {
  grpc::ClientContext context;
  impl_->set_deadline(context);
  v1::FilterResponse response;
  const grpc::Status status = impl_->stub->Filter(&context, to_request(call), &response);
  if (status.ok()) return to_reply(response, call.items.size());
  Status error = from_grpc(status);
  if (impl_->options.fail_open && !call.strict && error.code() != Code::kBadRecord)
    return open_reply(call.items.size(), std::move(error));
  return error;
}

Result<std::string> Client::snapshot(const std::string& user, const std::string& scene, bool strict) {
  grpc::ClientContext context;
  impl_->set_deadline(context);
  v1::GetSnapshotRequest request;
  request.set_user(user);
  request.set_scene(scene);
  request.set_strict(strict);
  v1::GetSnapshotResponse response;
  const grpc::Status status = impl_->stub->GetSnapshot(&context, request, &response);
  if (!status.ok()) return from_grpc(status);
  return std::move(*response.mutable_snapshot());
}

Status Client::record_served(const std::string& user, const std::string& scene, const std::vector<std::string>& items) {
  grpc::ClientContext context;
  impl_->set_deadline(context);
  v1::RecordServedRequest request;
  request.set_user(user);
  request.set_scene(scene);
  pack(items, *request.mutable_items());
  v1::RecordServedResponse response;
  const grpc::Status status = impl_->stub->RecordServed(&context, request, &response);
  return status.ok() ? Status() : from_grpc(status);
}

Status Client::Impl::forget(v1::ForgetRequest& request, const std::string& user, const std::string& scene) const {
  grpc::ClientContext context;
  set_deadline(context);
  request.set_user(user);
  request.set_scene(scene);
  v1::ForgetResponse response;
  const grpc::Status status = stub->Forget(&context, request, &response);
  return status.ok() ? Status() : from_grpc(status);
}

Status Client::forget(const std::string& user, const std::string& scene, const std::string& item) {
  v1::ForgetRequest request;
  request.set_item(item);
  return impl_->forget(request, user, scene);
}

Status Client::forget_everything(const std::string& user, const std::string& scene) {
  v1::ForgetRequest request;
  request.set_everything(true);
  return impl_->forget(request, user, scene);
}

}  // namespace bloomring
