// Internal to pipeline/kafka: sends a group member's commits, one request at a time, and takes their results.
//
// Guarantees: commits only offsets recorded during the current assignment (between two calls of `reset`).
// Errors: a failed request is counted and logged, and its offsets go out with the next one, an interval later.
// Threading: the member's thread; `board` and the counts from any thread.
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
  // Takes results, and sends the commits on the board when the interval has passed. Does not block.
  void serve();
  // Sends the commits on the board now and waits for the results, each for at most `timeout_ms`.
  void flush(int timeout_ms);
  // The partitions are no longer ours: drops the board, and does not retry requests in flight.
  void reset();

 private:
  void send();
  bool poll_result(int timeout_ms);
  void on_result(rd_kafka_event_t* event);

  rd_kafka_t* client_;
  const Clock& clock_;
  const int64_t interval_ns_;
  CommitCounts& counts_;
  QueueHandle results_;
  CommitBoard board_;
  int64_t sent_at_ns_ = 0;
  int in_flight_ = 0;         // 0, 1, or one more for each flush that gave up waiting.
  uintptr_t assignment_ = 0;  // Number of the current assignment; sent with each request.
};

}  // namespace bloomring::kafka
