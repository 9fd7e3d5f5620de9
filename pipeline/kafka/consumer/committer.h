// Internal to pipeline/kafka: sends a group member's commits, one request at a time, and hears how they went.
//
// Guarantees: commits only what the board was given during the present assignment (between two calls of `forget`).
// A request that failed is counted and logged, and its offsets go out with the next one, an interval later.
// Threading: the member's thread; `board` and the counts from anywhere.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "pipeline/kafka/consumer/commit_board.h"
#include "pipeline/kafka/handle.h"

namespace bloomring::kafka {

// Requests, not partitions.
struct CommitCounts {
  std::atomic<int64_t> succeeded{0};
  std::atomic<int64_t> failed{0};
};

class Committer {
 public:
  // `client` and `counts` outlive the committer.
  Committer(rd_kafka_t* client, const Clock& clock, int interval_ms, CommitCounts& counts);

  CommitBoard& board() { return board_; }
  // Hears results, and sends what is on the board when the interval has passed. Does not block.
  void serve();
  // Sends what is on the board now and waits for the results, each for at most `timeout_ms`.
  void flush(int timeout_ms);
  // The partitions are no longer ours: drops the board, and does not try again what is under way.
  void forget();

 private:
  void send();
  bool hear(int timeout_ms);
  void on_result(rd_kafka_event_t* event);

  rd_kafka_t* client_;
  const Clock& clock_;
  const int64_t interval_ns_;
  CommitCounts& counts_;
  QueueHandle results_;
  CommitBoard board_;
  int64_t sent_at_ns_ = 0;
  int in_flight_ = 0;         // 0, 1, or one more for each flush that gave up waiting.
  uintptr_t assignment_ = 0;  // Number of the present assignment; goes along with each request.
};

}  // namespace bloomring::kafka
