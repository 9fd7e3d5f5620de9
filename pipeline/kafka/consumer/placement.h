// Internal to pipeline/kafka: where a consumer reads its partitions, and what becomes of a position that a broker says
// is not in its log.
//
// Such a position may be lost: retention passed it, or the topic was cut or made anew. Or it may not: a broker that
// stood still and goes on answers with its older log for as long as it takes itself for the leader (librdkafka 2.0.2
// names no leader epoch, by which it would know). So the leaders are learned anew and asked for the ends of the log:
//
//   the position is below its start        lost
//   the position is in it                  all partitions are assigned anew, each one record before where it is
//   the position is beyond its end         asked again, and lost when that stays so for 30 s
//   nobody tells the ends of its log       asked again, with a warning every 30 s
//
// All partitions, because librdkafka fetches one that had such an error again only after another assignment, and in a
// group with eager assignment there is only that of all. One record before, however many
// offsets without one lie between, for the source to see that the log is still the one that it was: one that was made
// anew may have grown past the position meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

// One partition's position, shared by its source and its consumer's Placement, on a thread each.
class Position {
 public:
  enum class State : uint8_t {
    kSound,    // The log has it.
    kDoubted,  // A broker says that its log does not have it, or its source went back to it. Nothing is fetched.
    kPlaced,   // Assigned anew; nothing was heard since.
    kLost,     // For good.
  };

  explicit Position(TopicPartition at) : at_(std::move(at)) {}
  const TopicPartition& at() const { return at_; }

  // The first offset that the source has not passed; kLogStart when it begins there and has passed nothing.
  Offset next() const { return Offset(next_.load(std::memory_order_acquire)); }
  // Where to read from to meet a record that was returned before: the last one, when there is any.
  Offset one_before() const;
  State state() const { return state_.load(std::memory_order_acquire); }
  // False until it was part of an assignment: what is in the partition's queue before is of an earlier one.
  bool assigned() const { return assigned_.load(std::memory_order_acquire); }

  // By its source: it has returned the record at `offset`; it has passed everything below `end`, where the log ends; a
  // broker says that its log does not have the position.
  void returned(Offset offset);
  void reached(Offset end);
  void doubt() { state_.store(State::kDoubted, std::memory_order_release); }
  // Called by the source that goes back. Reading begins again at `offset` once the Placement has found it in the log.
  void go_back(Offset offset);
  // Once it is lost.
  const std::string& why_lost() const { return why_lost_; }

 private:
  friend class Placement;
  void assign() { assigned_.store(true, std::memory_order_release); }
  void begin(Offset next) { next_.store(next.value, std::memory_order_release); }
  void placed() { state_.store(State::kPlaced, std::memory_order_release); }
  void lose(std::string why);
  void confirm();

  const TopicPartition at_;
  std::atomic<int64_t> next_{kLogStart.value};
  std::atomic<int64_t> last_{-1};  // Of the record that was returned last.
  std::atomic<State> state_{State::kSound};
  std::atomic<bool> assigned_{false};
  std::string why_lost_;  // Written before kLost is.
};

// The positions of one consumer. Of its thread.
class Placement {
 public:
  // `client` is destroyed after its last use here.
  Placement(rd_kafka_t* client, std::string bootstrap) : client_(client), bootstrap_(std::move(bootstrap)) {}

  // Another partition for the next `assign`, to be read from `start` on: an offset or kLogStart.
  void add(std::shared_ptr<Position> position, Offset start);
  // Reads all partitions, each from its position on; within a second of the last time only when `serve` comes by after
  // that: librdkafka 2.0.2 ends the process when one assignment follows another while it still stops a partition.
  // kFatal when librdkafka refuses.
  Status assign(int64_t steady_ns);
  // Its partition is read no further from the next `assign` on. When it was added again by then, that assignment leaves
  // it out and a later one takes it up: the new source must not meet what the queue has of the old one.
  void remove(const TopicPartition& at);
  // Reads none.
  void clear();

  // Looks at the positions in doubt; to be called often, asks at most five times a second. With any, it waits for
  // brokers for at most 1.6 s. Fails as `assign` does.
  Status serve(int64_t steady_ns);

 private:
  struct Held {
    std::shared_ptr<Position> position;
    std::optional<int64_t> beyond_since_ns;  // Since when brokers that were asked say that the log ends before it.
    bool doubted() const { return position->state() == Position::State::kDoubted; }
  };
  bool any_doubted();
  std::vector<TopicPartition> partitions() const;
  void warn_of_unknown(const std::vector<Result<PartitionFacts>>& logs, int64_t steady_ns);
  // Whether it is in the log.
  bool judge(Held& held, const PartitionFacts& log, int64_t steady_ns);
  Status assign_now(int64_t steady_ns);
  Status assign_from(const std::vector<Offset>& starts, int64_t steady_ns);

  rd_kafka_t* const client_;
  const std::string bootstrap_;
  std::vector<Held> held_;
  std::set<TopicPartition> removed_;  // Since the last assignment.
  int64_t assign_at_ns_ = INT64_MIN;  // Not before.
  bool assign_due_ = false;
  int64_t ask_at_ns_ = 0;
  int64_t warn_at_ns_ = 0;
};

}  // namespace bloomring::kafka
