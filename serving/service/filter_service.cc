#include "serving/service/filter_service.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "base/words.h"
#include "serving/admission/caller.h"
#include "serving/admission/message_cost.h"
#include "serving/service/call_parts.h"
#include "serving/service/service_status.h"
#include "serving/service/snapshot_codec.h"

namespace bloomring {

namespace {

std::string describe(const std::vector<Gap>& gaps) {
  std::string text = "incomplete";
  for (const Gap& gap : gaps) text += std::string("; ") + std::string(source_name(gap.source)) + ": " + gap.reason;
  return text;
}

constexpr std::string_view kEnding = "this replica is ending; ask another one";
// A client that was refused is told to come again after as long as it may wait, and at least this.
constexpr int64_t kRetryMsLeast = 100;
// Of a waiting call, with its message: its objects, and the buffer of a read of gRPC, which a message keeps whole.
constexpr size_t kWaitingBytes = 8 << 10;
constexpr std::string_view kHolderSeparator = ",";

// Calls `take` with each holder that a refusal names (FilterService::forward_or_redirect).
template <typename Take>
void for_each_holder(const grpc::Status& refusal, const Take& take) {
  std::istringstream holders(refusal.error_details());
  for (std::string holder; std::getline(holders, holder, kHolderSeparator.front());) take(holder);
}

bool writes(Method method) { return method == Method::kRecordServed || method == Method::kForget; }

// Of "/bloomring.v1.BloomringService/Filter".
std::optional<Method> method_of(std::string_view path) {
  static const std::string prefix = std::string("/") + v1::BloomringService::service_full_name() + "/";
  if (!path.starts_with(prefix)) return std::nullopt;
  for (size_t i = 0; i < kMethodCount; ++i) {
    if (path.substr(prefix.size()) == method_name(static_cast<Method>(i))) return static_cast<Method>(i);
  }
  return std::nullopt;
}

// Releases the bytes.
template <typename Request>
grpc::Status parse(grpc::ByteBuffer& bytes, Request& request) {
  const grpc::Status parsed = grpc::GenericDeserialize<grpc::ProtoBufferReader, Request>(&bytes, &request);
  bytes.Clear();
  return parsed.ok() ? parsed : to_grpc(no_message(*Request::descriptor()));
}

}  // namespace

std::string_view method_name(Method method) {
  constexpr std::array<std::string_view, kMethodCount> kNames = {"Filter", "FilterBatch", "GetSnapshot",
                                                                 "RecordServed", "Forget"};
  return kNames[static_cast<size_t>(method)];
}

FilterService::FilterService(const PartitionDirectory& partitions, CandidateFilter& core, EventLog* log,
                             CallPlaces& places, const FilterServiceConfig& config)
    : partitions_(partitions),
      core_(core),
      log_(log),
      config_(config),
      places_(places),
      gate_({config.in_flight_max, config.memory_bytes_max, config.waiting}, counters_),
      forwarder_(config.forward) {
  if (config.read_pool) pool_.emplace(core.store(), *config.read_pool);
}

FilterService::~FilterService() {
  constexpr int64_t kWaitMs = 1'000;
  pool_.reset();
  reads_->close();
  while (!reads_->wait_until_none(kWaitMs)) {
  }
}

bool FilterService::end_calls(int64_t bound_ms) {
  open_calls_.close();
  const bool answered = open_calls_.wait_until_none(bound_ms);
  gate_.close();
  return answered;
}

void FilterService::count(const grpc::Status& status) {
  ++counters_.requests;
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: ++counters_.refused_invalid; break;
    case grpc::StatusCode::UNAVAILABLE: ++counters_.refused_unavailable; break;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: ++counters_.refused_overload; break;
    case grpc::StatusCode::DEADLINE_EXCEEDED: ++counters_.refused_deadline; break;
    case grpc::StatusCode::FAILED_PRECONDITION: ++counters_.refused_strict; break;
    case grpc::StatusCode::PERMISSION_DENIED: ++counters_.refused_permission; break;
    default: break;
  }
}

void FilterService::count(const FilterAnswer& answer) {
  std::array<uint64_t, kReasonCount> verdicts{};
  for (const CandidateVerdict& found : answer.verdicts) {
    if (found.verdict.seen) ++verdicts[static_cast<size_t>(found.verdict.reason)];
  }
  verdicts[static_cast<size_t>(Reason::kNone)] = answer.candidates - answer.seen_count;
  for (size_t reason = 0; reason < kReasonCount; ++reason) counters_.verdicts[reason] += verdicts[reason];
  for (const Gap& gap : answer.gaps) ++counters_.incomplete[static_cast<size_t>(gap.source)];
  if (!answer.relaxed.empty()) ++counters_.relaxed;
  if (answer.saturated) ++counters_.saturated;
  if (config_.observe_answer) config_.observe_answer(answer);
}

int64_t FilterService::patience_ms(gpr_timespec deadline, int64_t wait_ms_max) {
  const gpr_timespec left =
      gpr_time_sub(gpr_convert_clock_type(deadline, GPR_CLOCK_REALTIME), gpr_now(GPR_CLOCK_REALTIME));
  const int64_t left_ms = std::min<int64_t>(gpr_time_to_millis(left), 10 * wait_ms_max);
  return std::clamp<int64_t>(left_ms * 9 / 10, 0, wait_ms_max);
}

gpr_timespec FilterService::patience_end(gpr_timespec deadline, int64_t wait_ms_max) {
  return gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                      gpr_time_from_millis(patience_ms(deadline, wait_ms_max), GPR_TIMESPAN));
}

grpc::Status FilterService::conclude(const v1::FilterRequest& request, const FilterAnswer& answer,
                                     v1::FilterResponse& response) {
  if (request.strict() && !answer.complete()) return {grpc::StatusCode::FAILED_PRECONDITION, describe(answer.gaps)};
  count(answer);
  if (!request.all_scenes()) count_known(answer.complete(), answer.user_known);
  encode(answer, core_.calendar(), request.explain(), response);
  return grpc::Status::OK;
}

void FilterService::count_known(bool complete, bool user_known) {
  if (complete) ++(user_known ? counters_.complete_known : counters_.complete_unknown);
}

void FilterService::read(const grpc::CallbackServerContext& context, const UserKey& user_key,
                         const ReplicaPartition& partition, const WantedPlays& wanted, const Done& done,
                         WaitingRead::Ended ended) {
  if (is_over(context)) {
    return done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before the filters were read"});
  }
  auto ended_or_refused = [done, ended = std::move(ended)](const WaitingRead::Outcome& outcome) {
    if (!outcome.refused) return ended(outcome);
    done({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many reads of the filter store wait"});
  };
  const gpr_timespec until = patience_end(context.raw_deadline(), config_.store_wait_ms);
  if (config_.read_through.old_store != nullptr)
    return read_through(context, user_key, partition, wanted, until, std::move(ended_or_refused));
  begin_read(context, user_key, core_.look_up(partition, user_key.bytes(), wanted), until,
             std::move(ended_or_refused));
}

void FilterService::read_through(const grpc::CallbackServerContext& context, const UserKey& user_key,
                                 const ReplicaPartition& partition, const WantedPlays& wanted, gpr_timespec until,
                                 WaitingRead::Ended ended) {
  auto through = std::make_shared<ReadThrough>(  // Shared with the read.
      *config_.read_through.old_store, core_, counters_, std::string(user_key.bytes()));
  const std::vector<ItemHash> items = through->wanted(wanted.items);
  UserLookup lookup = core_.look_up(partition, user_key.bytes(), {.items = items, .plays_max = wanted.plays_max});
  auto unite = [through, until, timeout_ms = config_.read_through.timeout_ms, reads = reads_,
                ended = std::move(ended)](const WaitingRead::Outcome& outcome) {
    if (outcome.refused) return ended(outcome);
    const bool counted = reads->begin();  // Not at the end of the service, which waits for what it has counted.
    const int64_t left_ms = gpr_time_to_millis(gpr_time_sub(until, gpr_now(until.clock_type)));
    auto united = [filters = outcome.filters, missing = outcome.missing, reads, counted,
                   ended](const UserLookup& found) {
      ended({.lookup = found, .filters = filters, .missing = missing});
      if (counted) reads->end();
    };
    through->unite(outcome.lookup, outcome.filters.get(), counted ? std::min(timeout_ms, left_ms) : 0,
                   std::move(united));
  };
  begin_read(context, user_key, std::move(lookup), until, std::move(unite));
}

void FilterService::begin_read(const grpc::CallbackServerContext& context, const UserKey& user_key, UserLookup lookup,
                               gpr_timespec until, WaitingRead::Ended ended) {
  const auto waiting = std::make_shared<WaitingRead>(core_, std::string(user_key.bytes()), std::move(lookup),
                                                     caller_of(context), std::move(ended));
  FilterReader& store = pool_ ? static_cast<FilterReader&>(*pool_) : core_.store();
  waiting->begin(store, reads_, until);
}

// `done` is called once, on this thread or later on another; request and response live until then.
void FilterService::filter(const grpc::CallbackServerContext& context, const v1::FilterRequest& request, Done done,
                           v1::FilterResponse& response) {
  Result<DecodedFilter> result = decode(request, config_.limits);
  if (!result.ok()) return done(to_grpc(result.status()));
  const auto decoded = std::make_shared<const DecodedFilter>(std::move(result).value());  // Shared: see Decoded.
  // A forwarded call about all scenes asks only the scene that it names.
  if (request.all_scenes() && !Forwarder::is_marked(context))
    return filter_all_scenes(context, request, decoded, std::move(done), response);
  const auto partition = find_ready(partitions_, decoded->user_key);
  if (!partition.ok())
    return filter_there(context, request, decoded->user_key, partition.status(), std::move(done), response);
  filter_here(context, request, decoded, decoded->user_key, *partition, std::move(done), response);
}

void FilterService::filter_here(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                                const Decoded& decoded, const UserKey& user_key,
                                const std::shared_ptr<ReplicaPartition>& partition, Done done,
                                v1::FilterResponse& response) {
  auto ended = [this, &request, &response, decoded, user_key, done](const WaitingRead::Outcome& outcome) {
    const FilterAnswer answer =
        core_.judge(decoded->question(user_key), outcome.lookup, outcome.filters.get(), outcome.missing);
    done(conclude(request, answer, response));
  };
  read(context, user_key, *partition, {.items = decoded->ids}, done, std::move(ended));
}

void FilterService::filter_there(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                                 const UserKey& user_key, const Status& reason, Done done,
                                 v1::FilterResponse& response) {
  auto send = [&](Forwarder::Stub& stub, grpc::ClientContext& onward, Forwarder::Done ended) {
    stub.async()->Filter(&onward, &request, &response, std::move(ended));
  };
  forward_or_redirect(context, user_key, request.forward_policy(), reason, std::move(send), std::move(done));
}

// As `filter`.
void FilterService::get_snapshot(const grpc::CallbackServerContext& context, const v1::GetSnapshotRequest& request,
                                 Done done, v1::GetSnapshotResponse& response) {
  const Result<UserKey> user_key = user_of(request, config_.limits);
  if (!user_key.ok()) return done(to_grpc(user_key.status()));
  const auto partition = find_ready(partitions_, *user_key);
  if (!partition.ok()) {
    auto send = [&](Forwarder::Stub& stub, grpc::ClientContext& onward, Forwarder::Done ended) {
      stub.async()->GetSnapshot(&onward, &request, &response, std::move(ended));
    };
    return forward_or_redirect(context, *user_key, request.forward_policy(), partition.status(), std::move(send),
                               std::move(done));
  }
  auto ended = [this, &request, &response, done, user_key = *user_key](const WaitingRead::Outcome& outcome) {
    const std::vector<Gap> gaps = encode_snapshot(core_, user_key, outcome, response);
    const bool refuse = request.strict() && !gaps.empty();
    done(refuse ? grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, describe(gaps)) : grpc::Status::OK);
  };
  read(context, *user_key, **partition, {.plays_max = kSnapshotPlaysMax}, done, std::move(ended));
}

// The details of the refusal carry the holders of the partition; the end of the call turns them into protocol fields.
void FilterService::forward_or_redirect(const grpc::CallbackServerContext& context, const UserKey& user_key,
                                        v1::ForwardPolicy policy, const Status& reason, Forwarder::Send send,
                                        Done done) {
  const PartitionId id = partition_of(shard_of(user_key.bytes()), partitions_.partition_count());
  std::vector<std::string> holders = partitions_.holders(id);
  if (holders.empty() || Forwarder::is_marked(context)) return done(to_grpc(reason));
  if (policy == v1::FORWARD_POLICY_REDIRECT) {
    const std::string addresses = joined(holders, kHolderSeparator);
    return done({grpc::StatusCode::UNAVAILABLE, reason.message() + "; held by " + addresses, addresses});
  }
  forwarder_.forward(context, std::move(holders), std::move(send),
                     [this, reason, done = std::move(done)](const grpc::Status& status) {
                       const bool unavailable = status.error_code() == grpc::StatusCode::UNAVAILABLE;
                       ++(unavailable ? counters_.forward_failed : counters_.forwarded);
                       done({status.error_code(),
                             unavailable ? reason.message() + "; " + status.error_message() : status.error_message()});
                     });
}

bool FilterService::may(const CallStart& start) const {
  if (config_.access == nullptr) return true;
  const auto authenticated = start.context.auth_context();
  const std::vector<std::string> names = authenticated ? caller_names(*authenticated) : std::vector<std::string>();
  return config_.access->may(names, writes(start.method) ? Right::kWrite : Right::kRead);
}

FilterService::Done FilterService::admit(const CallStart& start, OpenCall& call) {
  auto done = [this, &call, method = start.method, &context = start.context,
               begin = gpr_now(GPR_CLOCK_MONOTONIC)](const grpc::Status& answered) {
    const bool of_any_size = method == Method::kGetSnapshot && answered.ok();
    const grpc::Status status = of_any_size ? hold_answer(context, call) : answered;
    if (config_.observe) {
      const gpr_timespec took = gpr_time_sub(gpr_now(GPR_CLOCK_MONOTONIC), begin);
      config_.observe(method, status, static_cast<double>(took.tv_sec) + took.tv_nsec * 1e-9);
    }
    count(status);
    for_each_holder(status,
                    [&](const std::string& holder) { context.AddTrailingMetadata("bloomring-holder", holder); });
    gate_.leave(call.users());
    call.finish({status.error_code(), status.error_message()});
  };
  if (is_over(start.context)) {  // Also of a replica that ends: another one would have no time for it either.
    done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before the request was read"});
    return nullptr;
  }
  if (open_calls_.closed()) {
    done({grpc::StatusCode::UNAVAILABLE, std::string(kEnding)});
    return nullptr;
  }
  if (!may(start)) {
    if (start.method == Method::kForget) audit_denied(start.context);
    done({grpc::StatusCode::PERMISSION_DENIED, "this client (" + caller_text(start.context) + ") may not call " +
                                                   std::string(method_name(start.method)) +
                                                   ": no line of the replica's serve.access_file gives it the right"});
    return nullptr;
  }
  return done;
}

grpc::Status FilterService::hold_answer(grpc::CallbackServerContext& context, OpenCall& call) {
  const size_t bytes = call.answer_bytes();
  if (auto share = gate_.memory().take(bytes, call.caller())) {
    call.hold_answer(std::move(*share));
    return grpc::Status::OK;
  }
  return refuse(context, {.outcome = CallGate::Outcome::kFull,
                          .reason = "the answer takes " + std::to_string(bytes) +
                                    " bytes of memory, and answers that nobody has read yet leave too few"});
}

template <typename Request>
grpc::Status FilterService::weigh(grpc::ByteBuffer& message, CallNeed& need) const {
  const auto cost = message_cost<Request>(message, config_.limits.batch_max);
  if (!cost.ok()) return to_grpc(cost.status());
  if (const Status few = check_request_count(cost->requests, config_.limits); !few.ok()) return to_grpc(few);
  need.users = std::max<int64_t>(static_cast<int64_t>(cost->requests), 1);
  need.bytes = cost->bytes;
  need.waiting_bytes = message.Length() + kWaitingBytes;
  return to_grpc(check_cost(cost->bytes, config_.memory_bytes_max));
}

grpc::Status FilterService::refuse(grpc::CallbackServerContext& context, const CallGate::Answer& answer) const {
  switch (answer.outcome) {
    case CallGate::Outcome::kCancelled: return {grpc::StatusCode::CANCELLED, "the client has gone"};
    case CallGate::Outcome::kEnding: return {grpc::StatusCode::UNAVAILABLE, std::string(kEnding)};
    default: break;
  }
  const std::string retry_ms = std::to_string(std::max(config_.admission_wait_ms, kRetryMsLeast));
  context.AddTrailingMetadata("grpc-retry-pushback-ms", retry_ms);
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          answer.reason + "; ask again after " + retry_ms + " ms, about fewer users or items, or ask another replica"};
}

template <typename Request, typename Response, typename Handle>
void FilterService::begin(Method method, CallOf<Request, Response>& call, Handle handle) {
  grpc::CallbackServerContext& context = call.context();
  grpc::ByteBuffer bytes;
  bytes.Swap(&call.message());
  Done done = admit({method, context, bytes.Length()}, call);
  if (!done) return;
  CallNeed need{.caller = caller_of(context)};
  if (grpc::Status weighed = weigh<Request>(bytes, need); !weighed.ok()) return done(std::move(weighed));
  auto go = [this, &call, &context, handle, users = need.users, caller = need.caller, bytes,
             done = std::move(done)](CallGate::Answer entered) mutable {
    const OpenCall::Handling handling(call);
    if (!entered.share) return done(refuse(context, entered));
    call.hold(users, caller, std::move(*entered.share));
    if (is_over(context))
      return done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before the call was admitted"});
    grpc::Status parsed = parse(bytes, call.request);
    if (!parsed.ok()) return done(std::move(parsed));
    (this->*handle)(context, call.request, std::move(done), call.response);
  };
  bytes.Clear();
  const int64_t wait_ms = patience_ms(context.raw_deadline(), config_.admission_wait_ms);
  CallGate::Answer entered = gate_.enter(need, wait_ms);
  if (entered.outcome == CallGate::Outcome::kWaits) {
    call.wait_at(gate_, gate_.wait(need, wait_ms, std::move(go)));
  } else {
    go(std::move(entered));
  }
}

template <typename Request, typename Response, typename Handle>
grpc::ServerGenericBidiReactor* FilterService::open_call(Method method, grpc::CallbackServerContext& context,
                                                         Handle handle) {
  using Opened = CallOf<Request, Response>;
  return new Opened(places_, context, open_calls_, [this, method, handle](OpenCall& call) {
    begin(method, static_cast<Opened&>(call), handle);
  });
}

grpc::ServerGenericBidiReactor* FilterService::open(grpc::GenericCallbackServerContext& context) {
  const std::optional<Method> method = method_of(context.method());
  if (!method) return nullptr;
  if (log_ == nullptr && writes(*method))
    return new RefusedCall(places_, context, {grpc::StatusCode::UNIMPLEMENTED, "this server has no log to write to"});
  switch (*method) {
    case Method::kFilter:
      return open_call<v1::FilterRequest, v1::FilterResponse>(*method, context, &FilterService::filter);
    case Method::kFilterBatch:
      return open_call<v1::FilterBatchRequest, v1::FilterBatchResponse>(*method, context, &FilterService::filter_batch);
    case Method::kGetSnapshot:
      return open_call<v1::GetSnapshotRequest, v1::GetSnapshotResponse>(*method, context, &FilterService::get_snapshot);
    case Method::kRecordServed:
      return open_call<v1::RecordServedRequest, v1::RecordServedResponse>(*method, context,
                                                                          &FilterService::record_served);
    case Method::kForget:
      return open_call<v1::ForgetRequest, v1::ForgetResponse>(*method, context, &FilterService::forget);
  }
  return nullptr;
}

namespace {

// Ends a batch when all of its requests have ended.
struct Batch {
  Batch(size_t requests, std::function<void(grpc::Status)> all_done) : left(requests), done(std::move(all_done)) {}
  void end_one() {
    if (left.fetch_sub(1) == 1) done(grpc::Status::OK);
  }
  std::atomic<size_t> left;
  std::function<void(grpc::Status)> done;
};

}  // namespace

void FilterService::filter_batch(const grpc::CallbackServerContext& context, const v1::FilterBatchRequest& request,
                                 Done done, v1::FilterBatchResponse& response) {
  grpc::Status checked = to_grpc(check(request, config_.limits));
  if (!checked.ok() || request.requests_size() == 0) return done(std::move(checked));
  // All outcomes exist before any thread fills one.
  for (int i = 0; i < request.requests_size(); ++i) response.add_outcomes()->mutable_response();
  const auto batch = std::make_shared<Batch>(request.requests_size(), std::move(done));  // Shared by its requests.
  for (int i = 0; i < request.requests_size(); ++i) {
    v1::FilterOutcome* outcome = response.mutable_outcomes(i);
    auto one_done = [this, outcome, batch](const grpc::Status& status) {
      outcome->set_code(status.error_code());
      outcome->set_message(status.error_message());
      if (!status.ok()) outcome->clear_response();
      for_each_holder(status, [outcome](const std::string& holder) { outcome->add_holders(holder); });
      count(status);
      batch->end_one();
    };
    filter(context, request.requests(i), std::move(one_done), *outcome->mutable_response());
  }
}

}  // namespace bloomring
