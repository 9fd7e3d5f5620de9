// The places of the calls that are open: from their headers until gRPC holds nothing of them any more.
//
//   enter --> silent --(its message came)--> working --> answered --(its client has read that)--> leave
//     |          \----------------------------\-----------\--> displaced for another call, and left later
//     \--> refused, which is an answer
//
// gRPC takes about 19 KB for a call from its headers on, whether its message ever comes or not, and until its client
// has read the end of the answer. The gate (call_gate.h) and the memory for requests know a call from its message on.
// Guarantees:
// - At most `calls_max` calls are open, and an eighth more that were refused and whose clients have not read that yet:
//   of these the oldest is displaced for a further one.
// - When no place is left, a silent call is displaced: the oldest of the host with most of them. Clients send a message
//   together with its headers, so a call that is answered soon is silent for no longer than a moment.
// - When no call is silent, an answered one is displaced in the same way: its client has not read the answer yet.
// - When all calls are being worked on, the host with most of them loses its oldest one to a host that has then not
//   more; any other newcomer is refused. So one host cannot keep others out.
// Threading: thread safe. `Call::end` is called with the lock held.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

namespace bloomring {

// Monotonic, but the first.
struct CallPlaceCounters {
  std::atomic<int64_t> open{0};  // Calls, now.
  std::atomic<uint64_t> silent_displaced{0};
  std::atomic<uint64_t> answered_displaced{0};
  std::atomic<uint64_t> working_displaced{0};
  std::atomic<uint64_t> refused{0};
};

class CallPlaces {
 private:
  struct Host;
  enum Stage : uint8_t { kSilent, kWorking, kAnswered };
  static constexpr size_t kStages = 3;

 public:
  // A call, as far as its place goes. It enters once, and leaves before it ends.
  class Call {
   public:
    virtual ~Call() = default;

   private:
    friend class CallPlaces;
    // Ends the call for its client, whatever it is doing. Calls nothing of CallPlaces on this thread.
    virtual void end() = 0;

    Host* host_ = nullptr;  // Null: it has no place.
    Stage stage_ = kSilent;
    std::list<Call*>::iterator at_;
  };

  explicit CallPlaces(size_t calls_max) : calls_max_(std::max<size_t>(calls_max, 1)) {}

  enum class Entrance : uint8_t { kPlace, kRefused, kFull };  // kFull: refused, and ended at once: an eighth is none.
  // `host`: the number of the caller's host (serving/admission/caller.h, caller_of_peer).
  Entrance enter(Call& call, uint64_t host);
  // The message of the call came.
  void spoke(Call& call) { move(call, kWorking); }
  // All that is left of the call is its answer, or less.
  void answered(Call& call) { move(call, kAnswered); }
  // Once `leave` has returned nobody calls `end`.
  void leave(Call& call);

  const CallPlaceCounters& counters() const { return counters_; }
  size_t hosts();  // Those with open calls; no others are remembered.

 private:
  struct Host {
    uint64_t number;
    std::array<std::list<Call*>, kStages> calls;  // By stage; the oldest first.
    size_t open() const { return calls[kSilent].size() + calls[kWorking].size() + calls[kAnswered].size(); }
  };

  // With the lock held.
  const std::list<Call*>& most_in(Stage stage) const;  // Of the host with most of them.
  bool make_room(uint64_t newcomer);
  void displace_idle();  // One that nobody works on; there is one.
  void displace(Call& call, std::atomic<uint64_t>& counter);
  void move(Call& call, Stage stage);
  void take_out(Call& call);

  const size_t calls_max_;
  CallPlaceCounters counters_;
  std::mutex mutex_;  // Guards the rest, and the places of the calls.
  std::unordered_map<uint64_t, Host> hosts_;
  size_t open_ = 0, working_ = 0;
};

}  // namespace bloomring
