#include "client/client_messages.h"

#include <algorithm>

namespace bloomring {

namespace {

constexpr uint8_t kFilterCode = 16;  // schemas/bloomring/v1/bloomring.proto, FilterResponse.codes.

constexpr size_t kPackedIdBytesMax = 255;  // The largest byte in PackedIds.lengths.

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

}  // namespace

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
  request.set_all_scenes(call.all_scenes);
  request.set_explain(v1::EXPLAIN_LEVEL_CODES);
  return request;
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
  reply.scenes.assign(response.scenes().begin(), response.scenes().end());
  reply.known_scenes.assign(response.known_scenes().begin(), response.known_scenes().end());
  return reply;
}

Status from_grpc(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK: return {};
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

}  // namespace bloomring
