// The pace of a job: tokens at a rate that may change at any time.
//
// Tokens gather for at most a tenth of a second, so that a job works evenly and does not make up for a pause by a
// burst. Work comes in pieces: a piece may take more tokens than there are, and the debt is paid before the next one.
// Threading: one thread. Times are those of a steady clock, in nanoseconds.
#pragma once

#include <cstdint>

namespace bloomring {

class Pace {
 public:
  // Units a second, more than 0.
  explicit Pace(double rate) : rate_(rate) {}

  double rate() const { return rate_; }
  void set_rate(double rate) { rate_ = rate; }
  // The share of the rate that is used, in [0, 1]. 0 stops the job.
  double share() const { return share_; }
  void set_share(double share) { share_ = share; }

  // The units that may be taken now.
  uint64_t allowed(int64_t steady_ns);
  void spend(uint64_t units) { tokens_ -= static_cast<double>(units); }

 private:
  double rate_;
  double share_ = 1;
  double tokens_ = 0;
  int64_t filled_at_ns_ = -1;  // Negative: never.
};

}  // namespace bloomring
