// Asks the brokers once a second where the logs end that the stages of this process read, so that metrics can say how
// far behind each is while a broker hangs or is gone, and for how long no broker has answered.
//
// When no broker has answered for ten seconds it writes a line to the log, and another one when they answer again. In
// between, readiness has a part "brokers" that says so. The process stays ready: a replica without brokers answers from
// what it has and says what is missing, and taking all of them out of service at once would leave nobody to answer.
// Threading: one thread of its own asks; everything else may be called from anywhere. A listener is called on that
// thread, under a lock that its destructor waits for. Failure: who is not answered hears nothing; asked again.
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
    virtual void hear(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns) = 0;
  };

  // `clock` and `health` outlive the watch.
  LogWatch(kafka::ClientSettings settings, const Clock& clock, Health& health);
  ~LogWatch();

  void add(Listener& listener);
  void remove(Listener& listener);
  // Since a broker answered last, or since the watch began.
  int64_t silence_ns() const;

 private:
  void ask();
  std::vector<kafka::TopicPartition> wanted() const;
  void tell(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns);
  void ask_ends();
  void tell_silence();

  const kafka::ClientSettings settings_;
  const Clock& clock_;
  Health& health_;
  std::atomic<int64_t> heard_at_ns_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;  // Of the worker, as what follows.
  std::optional<int64_t> silent_since_ns_;             // While the log has said that nobody answers.
  mutable std::mutex mutex_;
  std::set<Listener*> listeners_;
  std::unique_ptr<Worker> worker_;  // Last: its thread uses the rest.
};

}  // namespace bloomring
