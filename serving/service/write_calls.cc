// Calls that write to the log: served items, and forgets.
#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/log.h"
#include "base/running_log.h"
#include "schemas/store_key.h"
#include "serving/admission/caller.h"
#include "serving/query/forget_time.h"
#include "serving/service/call_parts.h"
#include "serving/service/filter_service.h"
#include "serving/service/service_status.h"
#include "serving/service/waiting_append.h"
#include "state/forget_rule.h"

namespace bloomring {

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
  // Not the service: the log may call it after the service's end.
  auto durable = [&core = core_, partition = *partition, events,
                  hash = user_hash(user_key->bytes())](const Appended& appended) {
    partition->log_time().saw(appended.log_time_ms, core.steady_ns());
    for (const Event& event : events)
      partition->note_served(hash, event.item, std::min(event.time_ms, appended.log_time_ms));
  };
  auto ended = [done = std::move(done)](const Result<Appended>& appended) {
    done(to_grpc(appended.status().with_context("the served items could not be recorded")));
  };
  const auto waiting = std::make_shared<WaitingAppend>(std::move(durable), std::move(ended));
  waiting->begin(*log_, *user_key, events, patience_end(context.raw_deadline(), config_.log_wait_ms));
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
  auto durable = [&core = core_, call, event](const Appended& appended) {  // As above.
    call->partition->log_time().saw(appended.log_time_ms, core.steady_ns());
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

FilterService::Done FilterService::audited(const grpc::CallbackServerContext& context,
                                           const v1::ForgetRequest& request, Done done) const {
  const auto user_key = decode_user(request.user(), request.scene(), any_scene(config_.limits.scenes));
  if (!user_key.ok()) return done;  // It names no user.
  return [caller = caller_text(context), user = user_hash_text(user_key->bytes()), scene = request.scene(),
          scenes = request.all_scenes(), everything = request.everything(),
          done = std::move(done)](const grpc::Status& status) {
    log_audit(LogLevel::kInfo, "a forget",
              {{"caller", caller},
               {"user", user},
               {"scene", scenes ? "all scenes" : scene},
               {"what", everything ? "everything" : "one item"},
               {"status", static_cast<int>(status.error_code())}});
    done(status);
  };
}

void FilterService::audit_denied(const grpc::CallbackServerContext& context) {
  const std::optional<uint64_t> without_line = denied_.line_at(core_.steady_ns());
  if (!without_line) return;
  log_audit(LogLevel::kWarning, "a forget was denied",
            {{"caller", caller_text(context)},
             {"status", static_cast<int>(grpc::StatusCode::PERMISSION_DENIED)},
             {"others_without_a_line", *without_line}});
}

void FilterService::forget(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done ended,
                           v1::ForgetResponse& response) {
  Done done = audited(context, request, std::move(ended));
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

}  // namespace bloomring
