#include "serving/waiting_call.h"

namespace bloomring {

WaitingCall::WaitingCall(CandidateFilter& core, DecodedFilter decoded, Looked looked, Answered answered)
    : core_(core), decoded_(std::move(decoded)), looked_(std::move(looked)), answered_(std::move(answered)) {}

void WaitingCall::begin(ReadPool& pool, gpr_timespec patience_end) {
  // The timer's function owns the call and the call owns the timer: letting go when it is called ends the circle. It
  // is always called, also when the timer is cancelled.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingCall> call = std::move(self);
    call->lose_patience();
  });
  pool.submit(shared_from_this());
}

void WaitingCall::answer(const UserFilters* filters, std::string_view missing) {
  if (decided_.exchange(true)) return;
  const FilterAnswer answer = core_.judge(decoded_.question(), looked_, filters, missing);
  answered_(&answer);
}

void WaitingCall::run() {
  const auto filters = core_.read(decoded_.user_key.bytes(), looked_);
  if (filters.ok()) {
    answer(filters->get(), {});
  } else {
    answer(nullptr, filters.status().to_string());
  }
  alarm_.Cancel();
}

void WaitingCall::lose_patience() { answer(nullptr, "filter store: no answer in time"); }

void WaitingCall::refuse() {
  if (!decided_.exchange(true)) answered_(nullptr);
  alarm_.Cancel();
}

}  // namespace bloomring
