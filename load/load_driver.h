// Open-loop load on a running query service: the core of `bloomring load`.
//
// Calls are due at random moments (exponential intervals, as from many independent users) at a given rate, even if
// earlier calls are unanswered. A latency counts from the moment when the call was due, not when it could be sent: a
// stall of the service, the network or the load tool shows in the latency of every call that it delays (no coordinated
// omission).
//
// After each answer the driver records the first unseen candidates as served, if the service offers it. The driver
// knows which candidates its source calls played. It counts played ones that a complete answer calls unseen, and never
// played ones that it calls seen.
//
// Threading: `run_load` works on the calling thread; answers come on gRPC's.
// Memory: bounded by `in_flight_max`; a call that is due beyond it is not made, and counts as not sent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/tls_files.h"
#include "load/latency_histogram.h"

namespace bloomring {

// One question: a user and candidates. Items are concatenated.
struct LoadQuestion {
  std::string user;
  std::string items;
  std::string lengths;           // A byte each.
  std::vector<uint32_t> played;  // Candidates that the user is known to have played, ascending.

  void clear();
  void add(std::string_view item, bool is_played);  // 1 to 128 bytes.
};

class LoadSource {
 public:
  virtual ~LoadSource() = default;
  // Replaces the question by the next one.
  virtual void next(LoadQuestion& question) = 0;
};

struct LoadOptions {
  std::string server = {};  // Comma-separated: the connections go to them in turn.
  TlsClientFiles tls = {};
  std::string scene = {};
  double rate = 200;    // Calls of Filter a second, more than 0.
  double seconds = 30;  // Measured, after the warm-up.
  double warm_up_seconds = 2;
  int64_t deadline_ms = 1'000;  // Of each call.
  uint32_t connections = 2;
  uint32_t served = 0;  // Items recorded as served after each answer; 0: none.
  int64_t in_flight_max = 10'000;
  uint64_t seed = 1;  // Of the intervals.
};

// The functions that a run needs from its caller.
struct LoadEnvironment {
  const Clock& clock;
  // Waits for this time; true when the run must end early.
  std::function<bool(int64_t wait_ns)> wait_or_stop;
  // CPU seconds so far: of this process, and of the service if known.
  std::function<std::optional<double>()> own_cpu_seconds;
  std::function<std::optional<double>()> service_cpu_seconds;
};

// Calls of one kind.
struct LoadCalls {
  LatencyHistogram latency_ns;             // Of answered calls.
  std::map<std::string, uint64_t> errors;      // By the name of the status code.
  std::map<std::string, std::string> reasons;  // By the same: the message of the first.
  uint64_t ok() const { return latency_ns.count(); }
};

struct LoadReport {
  double seconds = 0;  // Measured.
  LoadCalls filter;
  LoadCalls served;
  bool served_offered = true;      // False: the service does not have the call.
  uint64_t not_sent = 0;           // Too many calls were in flight.
  uint64_t send_delay_max_ns = 0;  // The longest delay of a call by this tool.
  uint64_t incomplete = 0;         // Answers.
  uint64_t candidates = 0;         // Of answered calls, like the next.
  uint64_t seen = 0;
  uint64_t played = 0;  // Of complete answers, like the next.
  uint64_t played_unseen = 0;
  uint64_t never_played = 0;
  uint64_t never_played_seen = 0;
  // Per call of Filter, with its call of RecordServed, warm-up included.
  std::optional<double> own_cpu_seconds_per_call;
  std::optional<double> service_cpu_seconds_per_call;
};

LoadReport run_load(const LoadOptions& options, LoadSource& source, const LoadEnvironment& environment);

// One object on one line; latencies in milliseconds.
std::string to_json(const LoadOptions& options, const LoadReport& report);
// A table for people.
std::string to_text(const LoadOptions& options, const LoadReport& report);

}  // namespace bloomring
