#include "serving/service/filter_service.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "base/hash.h"
#include "base/words.h"
#include "serving/query/forget_time.h"
#include "serving/service/service_status.h"
#include "serving/service/snapshot_codec.h"
#include "serving/service/waiting_append.h"
#include "state/forget_rule.h"

namespace bloomring {

namespace {

// Uses the clock of the deadline.
bool has_passed(gpr_timespec deadline) { return gpr_time_cmp(deadline, gpr_now(deadline.clock_type)) < 0; }

bool is_over(const grpc::CallbackServerContext& context) {
  return context.IsCancelled() || has_passed(context.raw_deadline());
}

template <typename Request>
const SceneRules& rules_for(const Request&, const RequestLimits& limits) {
  return limits.scenes;
}

const SceneRules& rules_for(const v1::ForgetRequest& request, const RequestLimits& limits) {
  return request.all_scenes() ? any_scene(limits.scenes) : limits.scenes;
}

// The user of a request whose other fields are valid.
template <typename Request>
Result<UserKey> user_of(const Request& request, const RequestLimits& limits) {
  BLOOMRING_TRY_ASSIGN(UserKey user_key, decode_user(request.user(), request.scene(), rules_for(request, limits)));
  BLOOMRING_TRY(check_bytes(request, limits));
  return user_key;
}

std::string describe(const std::vector<Gap>& gaps) {
  std::string text = "incomplete";
  for (const Gap& gap : gaps) text += std::string("; ") + std::string(source_name(gap.source)) + ": " + gap.reason;
  return text;
}

constexpr std::string_view kHolderSeparator = ",";

// Calls `take` with each holder that a refusal names (FilterService::forward_or_redirect).
template <typename Take>
void for_each_holder(const grpc::Status& refusal, const Take& take) {
  std::istringstream holders(refusal.error_details());
  for (std::string holder; std::getline(holders, holder, kHolderSeparator.front());) take(holder);
}

}  // namespace

// A call from its beginning until its answer was handed to gRPC. Destroys itself.
class FilterService::OpenCall final : public grpc::ServerUnaryReactor {
 public:
  explicit OpenCall(OpenCalls& calls) : calls_(calls), counted_(calls.begin()) {}

 private:
  void OnDone() override {
    if (counted_) calls_.end();
    delete this;
  }

  OpenCalls& calls_;
  const bool counted_;
};
std::string_view method_name(Method method) {
  constexpr std::array<std::string_view, kMethodCount> kNames = {"Filter", "FilterBatch", "GetSnapshot",
                                                                 "RecordServed", "Forget"};
  return kNames[static_cast<size_t>(method)];
}

FilterService::FilterService(const PartitionDirectory& partitions, CandidateFilter& core, EventLog* log,
                             const FilterServiceConfig& config)
    : partitions_(partitions),
      core_(core),
      log_(log),
      config_(config),
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
  return open_calls_.wait_until_none(bound_ms);
}

void FilterService::count(const grpc::Status& status) {
  ++counters_.requests;
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: ++counters_.refused_invalid; break;
    case grpc::StatusCode::UNAVAILABLE: ++counters_.refused_unavailable; break;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: ++counters_.refused_overload; break;
    case grpc::StatusCode::DEADLINE_EXCEEDED: ++counters_.refused_deadline; break;
    case grpc::StatusCode::FAILED_PRECONDITION: ++counters_.refused_strict; break;
    default: break;
  }
}

void FilterService::count(const FilterAnswer& answer) {
  std::array<uint64_t, kReasonCount> verdicts{};
  for (const Finding& finding : answer.findings) {
    if (finding.verdict.seen) ++verdicts[static_cast<size_t>(finding.verdict.reason)];
  }
  verdicts[static_cast<size_t>(Reason::kNone)] = answer.candidates - answer.seen_count;
  for (size_t reason = 0; reason < kReasonCount; ++reason) counters_.verdicts[reason] += verdicts[reason];
  for (const Gap& gap : answer.gaps) ++counters_.incomplete[static_cast<size_t>(gap.source)];
  if (!answer.relaxed.empty()) ++counters_.relaxed;
  if (answer.saturated) ++counters_.saturated;
  if (config_.observe_answer) config_.observe_answer(answer);
}

gpr_timespec FilterService::patience_end(gpr_timespec deadline, int64_t wait_ms_max) {
  const gpr_timespec now = gpr_now(GPR_CLOCK_REALTIME);
  const gpr_timespec left = gpr_time_sub(gpr_convert_clock_type(deadline, GPR_CLOCK_REALTIME), now);
  const int64_t left_ms = std::min<int64_t>(gpr_time_to_millis(left), 10 * wait_ms_max);
  const int64_t wait_ms = std::clamp<int64_t>(left_ms * 9 / 10, 0, wait_ms_max);
  return gpr_time_add(now, gpr_time_from_millis(wait_ms, GPR_TIMESPAN));
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
  UserLookup lookup = core_.look_up(partition, user_key.bytes(), wanted);
  const auto waiting = std::make_shared<WaitingRead>(core_, std::string(user_key.bytes()), std::move(lookup),
                                                     std::move(ended_or_refused));
  FilterReader& store = pool_ ? static_cast<FilterReader&>(*pool_) : core_.store();
  waiting->begin(store, reads_, patience_end(context.raw_deadline(), config_.store_wait_ms));
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

grpc::ServerUnaryReactor* FilterService::GetSnapshot(grpc::CallbackServerContext* context,
                                                     const v1::GetSnapshotRequest* request,
                                                     v1::GetSnapshotResponse* response) {
  grpc::ServerUnaryReactor* reactor = new OpenCall(open_calls_);
  if (auto done = admit(Method::kGetSnapshot, context, reactor)) {
    get_snapshot(*context, *request, std::move(done), *response);
  }
  return reactor;
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

FilterService::Done FilterService::admit(Method method, grpc::CallbackServerContext* context,
                                         grpc::ServerUnaryReactor* reactor) {
  const int64_t in_flight = counters_.in_flight.fetch_add(1);
  auto done = [this, method, context, reactor, begin = gpr_now(GPR_CLOCK_MONOTONIC)](const grpc::Status& status) {
    counters_.in_flight.fetch_sub(1);
    if (config_.observe) {
      const gpr_timespec took = gpr_time_sub(gpr_now(GPR_CLOCK_MONOTONIC), begin);
      config_.observe(method, status, static_cast<double>(took.tv_sec) + took.tv_nsec * 1e-9);
    }
    count(status);
    for_each_holder(status,
                    [context](const std::string& holder) { context->AddTrailingMetadata("bloomring-holder", holder); });
    reactor->Finish({status.error_code(), status.error_message()});
  };
  if (open_calls_.closed()) {
    done({grpc::StatusCode::UNAVAILABLE, "this replica is ending; ask another one"});
    return nullptr;
  }
  if (in_flight < config_.in_flight_max) return done;
  done({grpc::StatusCode::RESOURCE_EXHAUSTED, std::to_string(config_.in_flight_max) + " calls are in flight already"});
  return nullptr;
}

grpc::ServerUnaryReactor* FilterService::Filter(grpc::CallbackServerContext* context, const v1::FilterRequest* request,
                                                v1::FilterResponse* response) {
  grpc::ServerUnaryReactor* reactor = new OpenCall(open_calls_);
  if (auto done = admit(Method::kFilter, context, reactor)) filter(*context, *request, std::move(done), *response);
  return reactor;
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

grpc::ServerUnaryReactor* FilterService::FilterBatch(grpc::CallbackServerContext* context,
                                                     const v1::FilterBatchRequest* request,
                                                     v1::FilterBatchResponse* response) {
  grpc::ServerUnaryReactor* reactor = new OpenCall(open_calls_);
  auto done = admit(Method::kFilterBatch, context, reactor);
  if (!done) return reactor;
  grpc::Status checked = to_grpc(check(*request, config_.limits));
  if (!checked.ok() || request->requests_size() == 0) {
    done(std::move(checked));
    return reactor;
  }
  // All outcomes exist before any thread fills one.
  for (int i = 0; i < request->requests_size(); ++i) response->add_outcomes()->mutable_response();
  const auto batch = std::make_shared<Batch>(request->requests_size(), std::move(done));  // Shared by its requests.
  for (int i = 0; i < request->requests_size(); ++i) {
    v1::FilterOutcome* outcome = response->mutable_outcomes(i);
    auto one_done = [this, outcome, batch](const grpc::Status& status) {
      outcome->set_code(status.error_code());
      outcome->set_message(status.error_message());
      if (!status.ok()) outcome->clear_response();
      for_each_holder(status, [outcome](const std::string& holder) { outcome->add_holders(holder); });
      count(status);
      batch->end_one();
    };
    filter(*context, request->requests(i), std::move(one_done), *outcome->mutable_response());
  }
  return reactor;
}

void FilterService::record_served(const grpc::CallbackServerContext& context, const v1::RecordServedRequest& request,
                                  Done done, v1::RecordServedResponse& response) {
  const auto items = hash_ids(request.items(), "items", config_.limits.served_items_max);
  if (!items.ok()) return done(to_grpc(items.status()));
  const Result<UserKey> user_key = user_of(request, config_.limits);
  if (!user_key.ok()) return done(to_grpc(user_key.status()));
  auto partition = find_ready(partitions_, *user_key);
  if (!partition.ok()) {
    auto send = [&](Forwarder::Stub& stub, grpc::ClientContext& onward, Forwarder::Done ended) {
      stub.async()->RecordServed(&onward, &request, &response, std::move(ended));
    };
    return forward_or_redirect(context, *user_key, request.forward_policy(), partition.status(), std::move(send),
                               std::move(done));
  }
  std::vector<Event> events;
  const int64_t served_at_ms = core_.now((*partition)->log_time()).latest_ms;  // Readers bound it by the log time.
  for (const ItemHash item : *items) events.push_back({EventKind::kServe, item, served_at_ms});
  if (events.empty()) return done(grpc::Status::OK);
  if (is_over(context)) {
    return done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before anything was recorded"});
  }
  auto durable = [this, partition = *partition, events, hash = user_hash(user_key->bytes())](const Appended& appended) {
    partition->log_time().saw(appended.log_time_ms, core_.steady_ns());
    for (const Event& event : events)
      partition->note_served(hash, event.item, std::min(event.time_ms, appended.log_time_ms));
  };
  auto ended = [done = std::move(done)](const Result<Appended>& appended) {
    done(to_grpc(appended.status().with_context("the served items could not be recorded")));
  };
  const auto waiting = std::make_shared<WaitingAppend>(std::move(durable), std::move(ended));
  waiting->begin(*log_, *user_key, events, patience_end(context.raw_deadline(), config_.log_wait_ms));
}

grpc::ServerUnaryReactor* FilterService::RecordServed(grpc::CallbackServerContext* context,
                                                      const v1::RecordServedRequest* request,
                                                      v1::RecordServedResponse* response) {
  grpc::ServerUnaryReactor* reactor = new OpenCall(open_calls_);
  if (log_ == nullptr) {
    reactor->Finish({grpc::StatusCode::UNIMPLEMENTED, "this server has no log to record to"});
  } else if (auto done = admit(Method::kRecordServed, context, reactor)) {
    record_served(*context, *request, std::move(done), *response);
  }
  return reactor;
}

// The forget of one call. Shared by the appends that it takes.
struct FilterService::ForgetCall {
  UserKey user_key;
  std::optional<ItemHash> item;  // Nothing: everything.
  std::shared_ptr<ReplicaPartition> partition;
  gpr_timespec patience_end;
  Done done;
  int64_t began_ns = 0;  // Of the steady clock.
  int tries_left = 3;
  std::optional<int64_t> log_told_ms;  // The log's time, by the latest append of this call.
};

Event FilterService::make_forget(const ForgetCall& call) const {
  const int64_t time_ms =
      forget_time_ms(core_, *call.partition, user_hash(call.user_key.bytes()), call.item, call.log_told_ms);
  return {call.item ? EventKind::kForget : EventKind::kForgetAll, call.item.value_or(ItemHash(0)), time_ms};
}

void FilterService::append_forget(const std::shared_ptr<ForgetCall>& call) {
  const Event event = make_forget(*call);
  auto durable = [this, call, event](const Appended& appended) {
    call->partition->log_time().saw(appended.log_time_ms, core_.steady_ns());
    call->partition->note_forget(user_hash(call->user_key.bytes()), event, appended.offset);
  };
  auto ended = [this, call, event](Result<Appended> appended) {
    if (appended.ok()) call->log_told_ms = appended->log_time_ms;
    const bool late = appended.ok() && forget_rule::is_logged_late(event.time_ms, *call->log_told_ms, config_.slot_ms);
    const int64_t took_ms = (core_.steady_ns() - call->began_ns) / 1'000'000;
    const bool short_of_now = appended.ok() && is_short_forget(event.time_ms, *call->log_told_ms, took_ms);
    if ((late || short_of_now) && --call->tries_left > 0) return append_forget(call);
    if (late) appended = retry("the log was slower than its hours");
    call->done(to_grpc(appended.status().with_context("it could not be made forgotten")));
  };
  const auto waiting = std::make_shared<WaitingAppend>(std::move(durable), std::move(ended));
  waiting->begin(*log_, call->user_key, std::span(&event, 1), call->patience_end);
}

void FilterService::forget(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done done,
                           v1::ForgetResponse& response) {
  if (request.all_scenes() && !Forwarder::is_marked(context))
    return forget_in_all_scenes(context, request, std::move(done));
  forget_in_scene(context, request, std::move(done), response);
}

void FilterService::forget_in_scene(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request,
                                    Done done, v1::ForgetResponse& response) {
  const auto call = std::make_shared<ForgetCall>();
  Result<UserKey> user_key = user_of(request, config_.limits);
  if (!user_key.ok()) return done(to_grpc(user_key.status()));
  const auto item = decode_forgotten_item(request);
  if (!item.ok()) return done(to_grpc(item.status()));
  auto partition = find_ready(partitions_, *user_key);
  if (!partition.ok()) {
    auto send = [&](Forwarder::Stub& stub, grpc::ClientContext& onward, Forwarder::Done ended) {
      stub.async()->Forget(&onward, &request, &response, std::move(ended));
    };
    return forward_or_redirect(context, *user_key, request.forward_policy(), partition.status(), std::move(send),
                               std::move(done));
  }
  if (is_over(context)) {
    return done({grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline had passed before anything was forgotten"});
  }
  call->user_key = std::move(user_key).value();
  call->item = *item;
  call->partition = std::move(partition).value();
  call->patience_end = patience_end(context.raw_deadline(), config_.log_wait_ms);
  call->done = std::move(done);
  call->began_ns = core_.steady_ns();
  append_forget(call);
}

grpc::ServerUnaryReactor* FilterService::Forget(grpc::CallbackServerContext* context, const v1::ForgetRequest* request,
                                                v1::ForgetResponse* response) {
  grpc::ServerUnaryReactor* reactor = new OpenCall(open_calls_);
  if (log_ == nullptr) {
    reactor->Finish({grpc::StatusCode::UNIMPLEMENTED, "this server has no log to write to"});
  } else if (auto done = admit(Method::kForget, context, reactor)) {
    forget(*context, *request, std::move(done), *response);
  }
  return reactor;
}

}  // namespace bloomring
