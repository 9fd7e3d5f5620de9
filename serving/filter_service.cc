#include "serving/filter_service.h"

#include <string>

#include "base/hash.h"

namespace bloomring {

namespace {

// Counts a call as in flight while it lives.
class InFlight {
 public:
  explicit InFlight(std::atomic<int64_t>& level) : level_(level), before_(level.fetch_add(1)) {}
  ~InFlight() { level_.fetch_sub(1); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  int64_t before() const { return before_; }

 private:
  std::atomic<int64_t>& level_;
  const int64_t before_;
};

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

bool is_late(const grpc::CallbackServerContext& context) {
  const gpr_timespec deadline = context.raw_deadline();
  return context.IsCancelled() || gpr_time_cmp(deadline, gpr_now(deadline.clock_type)) < 0;
}

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
    : partitions_(partitions), core_(core), config_(config) {}

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

grpc::Status FilterService::filter(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                                   v1::FilterResponse& response) {
  const Result<DecodedFilter> decoded = decode(request, config_.limits);
  if (!decoded.ok()) return to_grpc(decoded.status());
  const auto partition = find_ready(partitions_, decoded->user_key);
  if (!partition.ok()) return to_grpc(partition.status());
  if (is_late(context)) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before the filters were read"};
  }
  const FilterAnswer answer = core_.answer(**partition, decoded->question());
  if (request.strict() && !answer.complete()) return {grpc::StatusCode::FAILED_PRECONDITION, describe(answer.gaps)};
  count(answer);
  encode(answer, core_.calendar(), request.explain(), response);
  return grpc::Status::OK;
}

grpc::ServerUnaryReactor* FilterService::Filter(grpc::CallbackServerContext* context, const v1::FilterRequest* request,
                                                v1::FilterResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const InFlight in_flight(counters_.in_flight);
  if (in_flight.before() >= config_.in_flight_max) {
    reactor->Finish(count({grpc::StatusCode::RESOURCE_EXHAUSTED,
                           std::to_string(config_.in_flight_max) + " calls are in flight already"}));
  } else {
    reactor->Finish(count(filter(*context, *request, *response)));
  }
  return reactor;
}

}  // namespace bloomring
