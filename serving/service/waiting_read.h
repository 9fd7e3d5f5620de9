// One read of a user's filters, for which a call waits with a bound.
//
//     begun --> read in time      --> ended with filters, or with what the store said
//          \--> patience is over  --> ended without
//           \-> refused           --> ended, refused
//
// The first of these ends it, once. A read that returns later still fills the cache. Patience ends before the caller's
// deadline, so that the answer arrives in time.
// Threading: the store, the timer and the caller call on different threads.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "serving/query/candidate_filter.h"
#include "serving/service/open_calls.h"
#include "state/store/filter_reader.h"

namespace bloomring {

class WaitingRead final : public FilterRead, public std::enable_shared_from_this<WaitingRead> {
 public:
  // `lookup` belongs to the read, so an outcome must not be kept after `ended` has returned.
  struct Outcome {
    const UserLookup& lookup;
    std::shared_ptr<const UserFilters> filters = {};  // Shared with the cache. Null: `missing` says why.
    std::string missing = {};
    bool refused = false;
  };
  // Called exactly once, on any thread.
  using Ended = std::function<void(const Outcome&)>;

  // `caller` is the read's FilterRead::caller.
  WaitingRead(CandidateFilter& core, std::string user_key, UserLookup lookup, uint64_t caller, Ended ended);

  // Takes the filters from the cache and ends at once, or begins to read them. `reads` counts the read until the store
  // has ended it.
  void begin(FilterReader& store, std::shared_ptr<OpenCalls> reads, gpr_timespec patience_end);

  std::span<const UserPeriods> users() const override { return {&user_, 1}; }
  uint64_t caller() const override { return caller_; }
  bool wanted() const override { return !decided_.load(); }
  void end(std::vector<Result<StoredUser>> users) override;
  void refuse() override;

 private:
  void decide(const Outcome& outcome);
  void end_read();

  CandidateFilter& core_;
  const std::string user_key_;  // UserKey bytes.
  const UserLookup lookup_;
  const UserPeriods user_;
  const uint64_t caller_;
  std::shared_ptr<OpenCalls> reads_;  // Shared: the service may end with the last read.
  Ended ended_;
  std::atomic<bool> decided_{false};
  grpc::Alarm alarm_;
};

}  // namespace bloomring
