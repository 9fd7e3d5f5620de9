// Asks the brokers once a second for the ends of the logs that the stages of this process read. From these, metrics
// show the lag of each stage also while a broker hangs or is gone, and for how long no broker has answered.
//
// When no broker has answered for ten seconds it writes a line to the log, and another one when one answers again. In
// between, /readyz has a part "brokers" that says so. The process stays ready: a replica without brokers answers from
// its state and reports the gap, and taking all replicas out of service at once would leave none to answer.
// Threading: one thread of its own asks; all members may be called from any thread. Listeners are called on that
// thread, under a lock for which `remove` waits.
// Errors: a listener gets no end of a partition without an answer; the watch asks again.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/worker.h"

namespace bloomring {

class LogWatch {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual std::vector<kafka::TopicPartition> wanted() const = 0;
    // The log ended there at some moment after `asked_at_ns` of the steady clock.
    virtual void update_log_end(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns) = 0;
  };

  // `clock` and `health` outlive the watch.
  LogWatch(kafka::ClientSettings settings, const Clock& clock, Health& health);
  ~LogWatch();

  void add(Listener& listener);
  void remove(Listener& listener);
  // The time since a broker answered last, or since the watch began.
  int64_t silence_ns() const;

 private:
  void ask();
  std::vector<kafka::TopicPartition> wanted() const;
  void report_end(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns);
  void ask_ends();
  void log_silence();

  const kafka::ClientSettings settings_;
  const Clock& clock_;
  Health& health_;
  std::atomic<int64_t> last_answer_ns_;                // When the last question that got an answer was asked.
  std::unique_ptr<kafka::AssignedConsumer> consumer_;  // Of the worker, as what follows.
  std::optional<int64_t> silent_since_ns_;             // Set while "no broker answers" stands in the log.
  mutable std::mutex mutex_;
  std::set<Listener*> listeners_;
  std::unique_ptr<Worker> worker_;  // Last: its thread uses the rest.
};

}  // namespace bloomring
