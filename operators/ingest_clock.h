// The clock of ingest: the brokers' time, taken from their acknowledgements, and whether this machine's clock agrees.
//
// Ingest compares event times with a clock: an event that is ahead counts as now, one that is far ahead is refused. The
// brokers stamp user-events (LogAppendTime), so each acknowledgement carries the broker's time. A steady clock carries
// that time forward, so a jump of the wall clock changes nothing. Ingest cannot know which of two clocks is right: when
// the machine's and the brokers' differ by more than a bound, it stops until they agree.
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

// The brokers' time is between these two, Unix milliseconds. A play is ahead when it is after the latest, a forget when
// it is after the earliest: so an event whose time is right never loses it to a clock that is behind, and a forget
// never takes a play that comes after it.
struct IngestTime {
  int64_t earliest_ms = 0;
  int64_t latest_ms = 0;

  static IngestTime at(int64_t now_ms) { return {now_ms, now_ms}; }
};

class IngestClock {
 public:
  enum class State : uint8_t { kUnknown, kGood, kOff, kAlone };
  static constexpr int64_t kCalmMs = 5'000;
  static constexpr int64_t kBrokersDifferMs = 1'000;  // The clocks of two brokers may differ by this.
  // An acknowledgement whose way took longer tells the time too vaguely to begin with; after kPatienceMs without a
  // better one it has to do.
  static constexpr int64_t kVagueMs = 1'000;
  static constexpr int64_t kPatienceMs = 5'000;

  explicit IngestClock(int64_t skew_max_ms) : skew_max_ms_(skew_max_ms) {}

  // Records were acknowledged: the newest of them was stamped `broker_ms`, none was sent before `sent_steady_ms`. The
  // broker stamped it at any moment between sending and hearing (the way).
  //   the clocks differ by more than the bound, even with the way allowed for    off
  //   the way took longer than the bound, or off was less than kCalmMs ago       no change: it does not tell the time
  //   the way took longer than kVagueMs, and no time is known                    no change for kPatienceMs
  //   otherwise                                                                  good
  // When good, the earliest time is kept between the stamp and the stamp plus the way and kBrokersDifferMs, so that the
  // drift of a fast steady clock does not add up; the latest between the stamp and the stamp plus the way.
  void acknowledged(int64_t broker_ms, int64_t sent_steady_ms, int64_t wall_ms, int64_t steady_ms) {
    const int64_t took_ms = steady_ms - sent_steady_ms;
    const int64_t ahead_least_ms = wall_ms - took_ms - broker_ms;
    const int64_t behind_least_ms = broker_ms - wall_ms;
    offset_ms_ = wall_ms - broker_ms;
    if (ahead_least_ms > skew_max_ms_ || behind_least_ms > skew_max_ms_) {
      state_ = State::kOff;
      off_at_ms_ = steady_ms;
      known_ = false;
      return;
    }
    if (took_ms > skew_max_ms_ || (state_ == State::kOff && steady_ms - off_at_ms_ < kCalmMs)) return;
    if (!known_ && is_too_vague(took_ms, steady_ms)) return;
    state_ = State::kGood;
    vague_since_ms_ = kNotVague;
    const int64_t least_ms = broker_ms - steady_ms;
    const int64_t most_ms = least_ms + std::max<int64_t>(took_ms, 0);
    if (!known_) ahead_of_steady_ = {least_ms, most_ms};
    known_ = true;
    int64_t& earliest_ms = ahead_of_steady_.earliest_ms;
    earliest_ms = std::clamp(earliest_ms, least_ms, most_ms + kBrokersDifferMs);
    ahead_of_steady_.latest_ms = std::max(earliest_ms, std::clamp(ahead_of_steady_.latest_ms, least_ms, most_ms));
  }
  // A record of user-events was acknowledged without a time of the brokers.
  void acknowledged_unstamped() {
    if (state_ == State::kUnknown) state_ = State::kAlone;
  }
  // The last acknowledgement may be long ago: another one is needed before ingest judges event times again.
  void doubt() {
    if (state_ != State::kGood) return;
    state_ = State::kUnknown;
    known_ = false;
  }

  State state() const { return state_; }
  bool may_judge() const { return state_ == State::kGood || state_ == State::kAlone; }
  // The bounds of the brokers' time. The earliest is never ahead of it, except by the difference between brokers'
  // clocks and by the gain of a fast steady clock between two acknowledgements.
  IngestTime now(int64_t wall_ms, int64_t steady_ms) const {
    if (!known_) return IngestTime::at(wall_ms);
    return {steady_ms + ahead_of_steady_.earliest_ms, steady_ms + ahead_of_steady_.latest_ms};
  }
  // This machine's clock minus the brokers', from the last acknowledgement; its way is included.
  std::optional<int64_t> offset_ms() const { return offset_ms_; }

 private:
  static constexpr int64_t kNotVague = -1;

  bool is_too_vague(int64_t took_ms, int64_t steady_ms) {
    if (took_ms <= kVagueMs) return false;
    if (vague_since_ms_ == kNotVague) vague_since_ms_ = steady_ms;
    return steady_ms - vague_since_ms_ < kPatienceMs;
  }

  int64_t skew_max_ms_;
  State state_ = State::kUnknown;
  bool known_ = false;                   // True when the next is known.
  IngestTime ahead_of_steady_;           // The brokers' time less the steady one.
  int64_t vague_since_ms_ = kNotVague;   // Of the steady clock: the first acknowledgement that was too vague.
  int64_t off_at_ms_ = 0;
  std::optional<int64_t> offset_ms_;
};

}  // namespace bloomring
