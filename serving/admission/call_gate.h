// Where calls are admitted: each takes places for its users and memory for its messages, or waits in turn for them.
//
//   entered --> room, and nobody waits --> admitted
//       \--> waits --> its turn, and room             --> admitted
//                 \--> patience is over, or its place is lost (serving/admission/call_queue.h) --> refused: full
//                  \-> its client has gone            --> refused: cancelled
//                   \> the gate is closed             --> refused: ending
//
// Guarantees:
// - The users of admitted calls are at most `users_max`, and their memory is at most `bytes_max`.
// - While callers wait, they get equal parts of both; one alone may use all places, and as much memory as it leaves
//   free (serving/admission/call_memory.h).
// - Each call that waits goes on once, where its alarm rings (call_timer.h). The alarm rings at the end of its
//   patience at the latest. A call that waits holds no thread.
// - The calls that wait, and the bytes that they hold, are bounded.
// Threading: thread safe. Waiting calls go on without the gate's lock. The gate outlives its calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/admission/call_memory.h"
#include "serving/admission/call_queue.h"
#include "serving/admission/call_timer.h"

namespace bloomring {

struct CallGateConfig {
  int64_t users_max = 1'024;     // Of admitted calls.
  size_t bytes_max = 256 << 20;  // Of admitted calls, with their answers.
  CallQueueBounds waiting = {};
};

// Monotonic, but the first two.
struct CallGateCounters {
  std::atomic<int64_t> in_flight{0};        // Users of admitted calls, now.
  std::atomic<int64_t> waiting{0};          // Calls that wait, now.
  std::atomic<uint64_t> waited_admitted{0};  // Calls that were admitted after they waited...
  std::atomic<uint64_t> waited_refused{0};   // ...that found no room in time, or lost their place...
  std::atomic<uint64_t> waited_ended{0};     // ...whose client went, or that the replica's end met.
  std::atomic<uint64_t> waited_us{0};        // Of all of these.
};

struct CallNeed {
  uint64_t caller = 0;  // serving/admission/caller.h
  int64_t users = 1;
  size_t bytes = 0;          // Of memory once it is admitted; at most `bytes_max`.
  size_t waiting_bytes = 0;  // That it holds while it waits.
};

class CallGate {
 public:
  // The counters and the timer outlive the gate.
  CallGate(const CallGateConfig& config, CallGateCounters& counters, CallTimer& timer = grpc_call_timer());
  ~CallGate();

  enum class Outcome : uint8_t { kAdmitted, kWaits, kFull, kEnding, kCancelled };
  struct Answer {
    Outcome outcome = Outcome::kWaits;
    std::optional<CallMemory::Share> share = {};  // With kAdmitted.
    std::string reason = {};                      // With kFull.
  };
  using Go = std::function<void(Answer)>;

  // kWaits where the call may wait for room: the caller then calls `wait`. A call that may wait 0 ms is kFull.
  Answer enter(const CallNeed& need, int64_t wait_ms);
  // Calls `go` once, later on a thread of the timer, with any outcome but kWaits. Returns the call's ticket.
  uint64_t wait(const CallNeed& need, int64_t wait_ms, Go go);
  // The client of a call has gone. Nothing happens where the call waits no more.
  void cancel(uint64_t ticket);
  // Gives back the places of an admitted call. Its share gives itself back.
  void leave(int64_t users);
  // All calls that wait go on with kEnding; from now on none waits.
  void close();

  CallMemory& memory() { return memory_; }

 private:
  struct Waiting;
  using AllWaiting = std::unordered_map<uint64_t, std::shared_ptr<Waiting>>;  // By ticket; shared with their alarms.
  using Decided = std::vector<std::shared_ptr<Waiting>>;                      // Those whose alarms are to be cancelled.

  // With the lock held.
  std::optional<CallMemory::Share> take(const CallNeed& need);
  std::string lack(const CallNeed& need) const;
  void let_in(Decided& decided);
  void decide(AllWaiting::iterator waiting, Answer answer, Decided& decided);
  void give_up(AllWaiting::iterator waiting, Answer answer, Decided& decided);

  // Without it.
  void let_in();
  void arm(const std::shared_ptr<Waiting>& call, int64_t wait_ms);
  void rang(const std::shared_ptr<Waiting>& call);
  static void go_on(const Decided& decided);

  const CallGateConfig config_;
  CallGateCounters& counters_;
  CallTimer& timer_;
  CallMemory memory_;
  std::mutex mutex_;  // Guards the rest, and the decisions on the calls that wait.
  CallQueue queue_;
  uint64_t tickets_ = 0;
  AllWaiting waiting_;
  bool closed_ = false;
};

}  // namespace bloomring
