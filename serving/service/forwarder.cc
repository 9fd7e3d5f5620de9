#include "serving/service/forwarder.h"

#include <algorithm>

#include "client/channel.h"
#include "serving/admission/caller.h"

namespace bloomring {

namespace {

constexpr char kMark[] = "bloomring-forwarded";

}  // namespace

struct Forwarder::Attempts {
  const grpc::CallbackServerContext& context;
  uint64_t caller = 0;
  std::vector<std::string> addresses;
  size_t next = 0;
  Send send;
  Done done;
  std::unique_ptr<grpc::ClientContext> onward;
};

bool Forwarder::is_marked(const grpc::CallbackServerContext& context) {
  return context.client_metadata().contains(kMark);
}

Forwarder::Stub& Forwarder::stub_of(const std::string& address) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Stub>& stub = stubs_[address];
  if (!stub) stub = v1::BloomringService::NewStub(open_channel({.server = address, .tls = config_.tls}));
  return *stub;
}

std::optional<std::string> Forwarder::take_place(uint64_t caller) {
  const std::lock_guard lock(mutex_);
  const auto known = in_flight_of_.find(caller);
  const int64_t own = known == in_flight_of_.end() ? 0 : known->second;
  if (own >= config_.in_flight_max - in_flight_) {
    return std::to_string(in_flight_) + " calls to other replicas are in flight already, " + std::to_string(own) +
           " of them of this caller, of at most " + std::to_string(config_.in_flight_max);
  }
  ++in_flight_;
  in_flight_of_[caller] = own + 1;
  return std::nullopt;
}

void Forwarder::give_place_back(uint64_t caller) {
  const std::lock_guard lock(mutex_);
  --in_flight_;
  const auto known = in_flight_of_.find(caller);
  if (--known->second == 0) in_flight_of_.erase(known);
}

void Forwarder::forward(const grpc::CallbackServerContext& context, std::vector<std::string> addresses, Send send,
                        Done done) {
  const uint64_t caller = caller_of(context);
  if (const auto full = take_place(caller)) return done({grpc::StatusCode::RESOURCE_EXHAUSTED, *full});
  std::rotate(addresses.begin(), addresses.begin() + static_cast<ptrdiff_t>(turn_.fetch_add(1) % addresses.size()),
              addresses.end());
  ask_next(std::unique_ptr<Attempts>(
      new Attempts{context, caller, std::move(addresses), 0, std::move(send), std::move(done), nullptr}));
}

void Forwarder::ask_next(std::unique_ptr<Attempts> attempts) {
  Attempts* const asked = attempts.release();  // Of gRPC's callback, which is always called.
  asked->onward = grpc::ClientContext::FromCallbackServerContext(asked->context);  // Deadline and cancellation.
  const gpr_timespec deadline = asked->context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    asked->onward->set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(config_.wait_ms, GPR_TIMESPAN)));
  }
  asked->onward->AddMetadata(kMark, "1");
  Stub& stub = stub_of(asked->addresses[asked->next++]);
  asked->send(stub, *asked->onward,
              [this, asked](const grpc::Status& status) { answered(std::unique_ptr<Attempts>(asked), status); });
}

void Forwarder::answered(std::unique_ptr<Attempts> attempts, const grpc::Status& status) {
  attempts->onward.reset();  // Before the call ends: it holds its channel, which must not end on this thread.
  const bool unavailable = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  if (unavailable && attempts->next < attempts->addresses.size()) return ask_next(std::move(attempts));
  give_place_back(attempts->caller);
  const Done done = std::move(attempts->done);
  const std::string last = attempts->addresses[attempts->next - 1];
  attempts.reset();
  done(unavailable ? grpc::Status(status.error_code(), last + ": " + status.error_message()) : status);
}

}  // namespace bloomring
