#include "serving/filter_service.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "serving/waiting_call.h"

namespace bloomring {

namespace {

Result<std::shared_ptr<HeldPartition>> find_ready(const PartitionDirectory& partitions, const UserKey& user_key) {
  const PartitionId id = partition_of(shard_of(user_key.bytes()), partitions.partition_count());
  std::shared_ptr<HeldPartition> partition = partitions.find(id);
  const std::string name = "partition " + std::to_string(id.value);
  if (partition == nullptr) {
    const std::string holder = partitions.holder(id);
    return retry(name + " is not held here" + (holder.empty() ? "" : ", but by " + holder));
  }
  if (!partition->ready()) return retry(name + " is catching up");
  return partition;
}

// gRPC's own clock: a deadline is in its terms.
bool has_passed(gpr_timespec deadline) { return gpr_time_cmp(deadline, gpr_now(deadline.clock_type)) < 0; }

grpc::Status to_grpc(const Status& status) {
  switch (status.code()) {
    case Code::kOk: return grpc::Status::OK;
    case Code::kRetry: return {grpc::StatusCode::UNAVAILABLE, status.message()};
    case Code::kBadRecord: return {grpc::StatusCode::INVALID_ARGUMENT, status.message()};
    default: return {grpc::StatusCode::INTERNAL, status.to_string()};
  }
}

std::string describe(const std::vector<Gap>& gaps) {
  std::string text = "incomplete";
  for (const Gap& gap : gaps) text += std::string("; ") + std::string(source_name(gap.source)) + ": " + gap.reason;
  return text;
}

}  // namespace

FilterService::FilterService(const PartitionDirectory& partitions, CandidateFilter& core, const FilterServiceConfig& config)
    : partitions_(partitions), core_(core), config_(config),
      reads_(config.read_threads, config.reads_queued_max) {}

grpc::Status FilterService::count(grpc::Status status) {
  ++counters_.requests;
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: ++counters_.refused_invalid; break;
    case grpc::StatusCode::UNAVAILABLE: ++counters_.refused_unavailable; break;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: ++counters_.refused_overload; break;
    case grpc::StatusCode::DEADLINE_EXCEEDED: ++counters_.refused_deadline; break;
    case grpc::StatusCode::FAILED_PRECONDITION: ++counters_.refused_strict; break;
    default: break;
  }
  return status;
}

void FilterService::count(const FilterAnswer& answer) {
  std::array<uint64_t, kReasonCount> verdicts{};
  for (const Finding& finding : answer.findings) {
    if (finding.verdict.seen) ++verdicts[static_cast<size_t>(finding.verdict.reason)];
  }
  verdicts[static_cast<size_t>(Reason::kNone)] = answer.candidates - answer.seen_count;
  for (size_t reason = 0; reason < kReasonCount; ++reason) counters_.verdicts[reason] += verdicts[reason];
  counters_.candidates += answer.candidates;
  for (const Gap& gap : answer.gaps) ++counters_.incomplete[static_cast<size_t>(gap.source)];
  if (!answer.relaxed.empty()) ++counters_.relaxed;
}

gpr_timespec FilterService::patience_end(gpr_timespec deadline) const {
  const gpr_timespec now = gpr_now(GPR_CLOCK_REALTIME);
  const gpr_timespec left = gpr_time_sub(gpr_convert_clock_type(deadline, GPR_CLOCK_REALTIME), now);
  const int64_t left_ms = std::min<int64_t>(gpr_time_to_millis(left), 10 * config_.store_wait_ms);
  const int64_t wait_ms = std::clamp<int64_t>(left_ms * 9 / 10, 0, config_.store_wait_ms);
  return gpr_time_add(now, gpr_time_from_millis(wait_ms, GPR_TIMESPAN));
}

grpc::Status FilterService::conclude(const v1::FilterRequest& request, const FilterAnswer& answer,
                                     v1::FilterResponse& response) {
  if (request.strict() && !answer.complete()) return {grpc::StatusCode::FAILED_PRECONDITION, describe(answer.gaps)};
  count(answer);
  encode(answer, core_.calendar(), request.explain(), response);
  return grpc::Status::OK;
}

Result<DecodedFilter> FilterService::decode_if_held(const v1::FilterRequest& request,
                                                    std::shared_ptr<HeldPartition>* partition) const {
  BLOOMRING_TRY_ASSIGN(DecodedFilter decoded, decode(request, config_.limits));
  BLOOMRING_TRY_ASSIGN(*partition, find_ready(partitions_, decoded.user_key));
  return decoded;
}

// `done` is called once, on this thread or later on another; request and response live until then.
void FilterService::filter(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                           std::function<void(grpc::Status)> done, v1::FilterResponse& response) {
  std::shared_ptr<HeldPartition> partition;
  Result<DecodedFilter> decoded = decode_if_held(request, &partition);
  if (!decoded.ok()) return done(to_grpc(decoded.status()));
  if (context.IsCancelled() || has_passed(context.raw_deadline())) {
    return done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before the filters were read"});
  }
  Looked looked = core_.look_up(*partition, decoded->user_key.bytes());
  if (const auto filters = core_.cached(decoded->user_key.bytes(), looked)) {
    return done(conclude(request, core_.judge(decoded->question(), looked, filters.get(), {}), response));
  }
  auto answered = [this, &request, &response, done = std::move(done)](const FilterAnswer* answer) {
    done(answer != nullptr ? conclude(request, *answer, response)
                           : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many reads of the filter store wait"));
  };
  const auto call = std::make_shared<WaitingCall>(core_, std::move(decoded).value(), std::move(looked), std::move(answered));
  call->begin(reads_, patience_end(context.raw_deadline()));
}

grpc::ServerUnaryReactor* FilterService::Filter(grpc::CallbackServerContext* context, const v1::FilterRequest* request,
                                                v1::FilterResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const int64_t in_flight = counters_.in_flight.fetch_add(1);
  auto done = [this, reactor](grpc::Status status) {
    counters_.in_flight.fetch_sub(1);
    reactor->Finish(count(std::move(status)));
  };
  if (in_flight >= config_.in_flight_max) {
    done({grpc::StatusCode::RESOURCE_EXHAUSTED, std::to_string(config_.in_flight_max) + " calls are in flight already"});
  } else {
    filter(*context, *request, std::move(done), *response);
  }
  return reactor;
}

}  // namespace bloomring
