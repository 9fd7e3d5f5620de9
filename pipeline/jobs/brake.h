// Slows a job down while the installation is under pressure, and lets it go again afterwards.
//
//   pressure      share of the rate, once a second
//   none          a quarter more, up to all of it; after a stop it begins at 1/64
//   high          half of it, down to 1/64
//   stop          0
//
// So a job gives way within a second or two, and takes about twenty seconds to come back.
// Threading: a value used by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace bloomring {

enum class Pressure : uint8_t { kNone, kHigh, kStop };

// The verdict of live signals on the installation: the worst of them, with its reason.
struct LivePressure {
  Pressure pressure = Pressure::kNone;
  std::string reason = {};  // "ingest is 4 s behind"; empty without pressure.

  void add(Pressure other, std::string why) {
    if (other <= pressure) return;
    pressure = other;
    reason = std::move(why);
  }
};

// Where a job learns of the pressure. `look` returns at once.
class LiveSignals {
 public:
  virtual ~LiveSignals() = default;
  virtual LivePressure look() = 0;
};

class Brake {
 public:
  static constexpr int64_t kIntervalMs = 1'000;
  static constexpr double kShareMin = 1.0 / 64;

  void note(Pressure pressure, int64_t steady_ms) {
    if (steady_ms < next_ms_) return;
    next_ms_ = steady_ms + kIntervalMs;
    switch (pressure) {
      case Pressure::kNone: share_ = std::clamp(share_ * 1.25, kShareMin, 1.0); break;
      case Pressure::kHigh: share_ = std::max(share_ / 2, kShareMin); break;
      case Pressure::kStop: share_ = 0; break;
    }
  }
  double share() const { return share_; }

 private:
  double share_ = 1;
  int64_t next_ms_ = INT64_MIN;
};

}  // namespace bloomring
