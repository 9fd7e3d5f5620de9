#include "serving/service/waiting_read.h"

#include "serving/query/public_reason.h"

namespace bloomring {

WaitingRead::WaitingRead(CandidateFilter& core, std::string user_key, UserLookup lookup, uint64_t caller,
                         Ended ended)
    : core_(core),
      user_key_(std::move(user_key)),
      lookup_(std::move(lookup)),
      user_{user_key_, lookup_.periods},
      caller_(caller),
      ended_(std::move(ended)) {}

void WaitingRead::decide(const Outcome& outcome) {
  if (!decided_.exchange(true)) ended_(outcome);
}

void WaitingRead::begin(FilterReader& store, std::shared_ptr<OpenCalls> reads, gpr_timespec patience_end) {
  if (auto filters = core_.cached(user_.user, lookup_))
    return decide({.lookup = lookup_, .filters = std::move(filters)});
  reads_ = std::move(reads);
  reads_->begin();
  // The timer's function owns the read, and the read owns the timer: releasing `self` in the function ends the
  // reference cycle. gRPC always calls it, also after a cancel.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingRead> read = std::move(self);
    read->decide({.lookup = read->lookup_, .missing = "filter store: no answer in time"});
  });
  store.begin_read(shared_from_this());
}

void WaitingRead::end(std::vector<Result<StoredUser>> users) {
  auto filters = core_.keep(user_.user, lookup_, std::move(users.front()));
  if (filters.ok()) {
    decide({.lookup = lookup_, .filters = std::move(filters).value()});
  } else {
    decide({.lookup = lookup_, .missing = "filter store " + public_reason(filters.status())});
  }
  end_read();
}

void WaitingRead::refuse() {
  decide({.lookup = lookup_, .refused = true});
  end_read();
}

// The last access to what the service owns.
void WaitingRead::end_read() {
  alarm_.Cancel();
  reads_->end();
}

}  // namespace bloomring
