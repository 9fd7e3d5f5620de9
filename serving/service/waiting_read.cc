#include "serving/service/waiting_read.h"

namespace bloomring {

WaitingRead::WaitingRead(CandidateFilter& core, std::string user_key, UserLookup lookup, Ended ended)
    : core_(core), user_key_(std::move(user_key)), lookup_(std::move(lookup)), ended_(std::move(ended)) {}

void WaitingRead::end(const Outcome& outcome) {
  if (!decided_.exchange(true)) ended_(outcome);
}

void WaitingRead::begin(ReadPool& pool, gpr_timespec patience_end) {
  if (auto filters = core_.cached(user_key_, lookup_)) return end({.lookup = lookup_, .filters = std::move(filters)});
  // The timer's function owns the read, and the read owns the timer: releasing `self` in the function ends the
  // reference cycle. gRPC always calls it, also after a cancel.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingRead> read = std::move(self);
    read->end({.lookup = read->lookup_, .missing = "filter store: no answer in time"});
  });
  pool.submit(shared_from_this());
}

void WaitingRead::run() {
  auto filters = core_.read(user_key_, lookup_);
  if (filters.ok()) {
    end({.lookup = lookup_, .filters = std::move(filters).value()});
  } else {
    end({.lookup = lookup_, .missing = filters.status().to_string()});
  }
  alarm_.Cancel();
}

void WaitingRead::refuse() {
  end({.lookup = lookup_, .refused = true});
  alarm_.Cancel();
}

}  // namespace bloomring
