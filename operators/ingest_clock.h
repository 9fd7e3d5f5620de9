// What time ingest goes by: that of the brokers, as their acknowledgements tell it, and whether this machine's agrees.
//
// Event times are judged by a clock: what is ahead of it counts as now, what is far ahead is refused. The brokers stamp
// user-events (LogAppendTime), so a record that was acknowledged says what time it was there. From then on a steady
// clock carries that time forward, so that a wall clock that jumps changes nothing. Which of two clocks is right nobody
// can tell: when the machine's and the brokers' differ by more than a bound, ingest stops until they agree.
//
//                     agrees                  differs
//   +---------+ ack +--------+     ack      +-----+
//   | unknown |---->|  good  |<------------>| off |   good again once acknowledgements have agreed for kCalmMs
//   +---------+     +--------+              +-----+
//        | ack without a time: the broker does not stamp
//        v
//   +---------+
//   |  alone  |  this machine's clock is all there is (the embedded broker)
//   +---------+
//
// Threading: a value used by one thread. Times are Unix milliseconds, `steady_ms` that of a steady clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bloomring {

class IngestClock {
 public:
  enum class State : uint8_t { kUnknown, kGood, kOff, kAlone };
  static constexpr int64_t kCalmMs = 5'000;
  static constexpr int64_t kBrokersDifferMs = 1'000;  // By so much the clocks of two brokers may.

  explicit IngestClock(int64_t skew_max_ms) : skew_max_ms_(skew_max_ms) {}

  // Records were acknowledged: the newest of them was stamped `broker_ms`, none was sent before `sent_steady_ms`. An
  // acknowledgement that was late, or heard late, tells nothing against the clock. Nor does it tell what time it is
  // when it took longer than the bound: it was stamped at any moment on its way. One that tells the time also tells
  // that it is no later than the way allows: a steady clock that is fast does not add up.
  void acknowledged(int64_t broker_ms, int64_t sent_steady_ms, int64_t wall_ms, int64_t steady_ms) {
    const int64_t took_ms = steady_ms - sent_steady_ms;
    const int64_t ahead_least_ms = wall_ms - took_ms - broker_ms;
    const int64_t behind_least_ms = broker_ms - wall_ms;
    offset_ms_ = wall_ms - broker_ms;
    if (ahead_least_ms > skew_max_ms_ || behind_least_ms > skew_max_ms_) {
      state_ = State::kOff;
      off_at_ms_ = steady_ms;
      ahead_of_steady_ms_.reset();
      return;
    }
    if (took_ms > skew_max_ms_ || (state_ == State::kOff && steady_ms - off_at_ms_ < kCalmMs)) return;
    state_ = State::kGood;
    const int64_t least_ms = broker_ms - steady_ms;
    const int64_t most_ms = least_ms + std::max<int64_t>(took_ms, 0) + kBrokersDifferMs;
    ahead_of_steady_ms_ = std::clamp(ahead_of_steady_ms_.value_or(least_ms), least_ms, most_ms);
  }
  // A record of user-events was acknowledged without a time of the brokers.
  void acknowledged_unstamped() {
    if (state_ == State::kUnknown) state_ = State::kAlone;
  }
  // What was heard may be long ago by now: to be heard again before anything is judged.
  void doubt() {
    if (state_ != State::kGood) return;
    state_ = State::kUnknown;
    ahead_of_steady_ms_.reset();
  }

  State state() const { return state_; }
  bool may_judge() const { return state_ == State::kGood || state_ == State::kAlone; }
  // The brokers' time: never ahead of it, but for brokers whose own clocks differ
  // and what a fast steady clock gains between two acknowledgements.
  int64_t now_ms(int64_t wall_ms, int64_t steady_ms) const {
    return ahead_of_steady_ms_ ? steady_ms + *ahead_of_steady_ms_ : wall_ms;
  }
  // This machine's clock minus the brokers', as last heard; with the way of the acknowledgement in it.
  std::optional<int64_t> offset_ms() const { return offset_ms_; }

 private:
  int64_t skew_max_ms_;
  State state_ = State::kUnknown;
  std::optional<int64_t> ahead_of_steady_ms_;  // The brokers' time less the steady one.
  int64_t off_at_ms_ = 0;
  std::optional<int64_t> offset_ms_;
};

}  // namespace bloomring
