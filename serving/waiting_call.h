// One Filter call that waits for the filter store, but not for ever.
//
//     begun --> read in time      --> answered
//          \--> patience is over  --> answered without filters, incomplete
//           \-> refused           --> RESOURCE_EXHAUSTED
//
// Whichever comes first answers, once; a read that ends later still fills the cache. Patience ends before the
// caller's deadline, so that the answer gets there in time.
// Threading: the read, the timer and the refusal come on different threads.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>

#include "serving/candidate_filter.h"
#include "serving/read_pool.h"
#include "serving/request_codec.h"

namespace bloomring {

class WaitingCall final : public PendingRead, public std::enable_shared_from_this<WaitingCall> {
 public:
  // Called exactly once: with the answer, or with null when it was refused.
  using Answered = std::function<void(const FilterAnswer*)>;

  WaitingCall(CandidateFilter& core, DecodedFilter decoded, Looked looked, Answered answered);

  // Hands the read to the pool. Answers without it at `patience_end`.
  void begin(ReadPool& pool, gpr_timespec patience_end);

  bool wanted() const override { return !decided_.load(); }
  void run() override;
  void refuse() override;

 private:
  void lose_patience();
  void answer(const UserFilters* filters, std::string_view missing);

  CandidateFilter& core_;
  const DecodedFilter decoded_;
  const Looked looked_;
  Answered answered_;
  std::atomic<bool> decided_{false};
  grpc::Alarm alarm_;
};

}  // namespace bloomring
