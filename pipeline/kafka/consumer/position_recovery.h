// Internal to pipeline/kafka: places a consumer's partitions at their positions, and decides about a position that a
// broker reports as not in its log.
//
// Such a position may be lost: retention passed it, or the topic was truncated or made again. Or it is not lost: a
// broker that was stopped and resumes answers with its older log for as long as it believes that it leads (librdkafka
// 2.0.2 sends no leader epoch, by which the broker would notice). So the PositionRecovery looks up the leaders again
// and asks them for the ends of the log:
//
//   the position is below its start        lost
//   the position is in it                  all partitions are assigned again, each one record before its position
//   the position is beyond its end         asked again, and lost when that stays so for 30 s
//   no broker returns the log's ends       asked again, with a warning every 30 s
//
// - All partitions, because librdkafka fetches a partition after such an error again only after another assignment,
//   and in a group with eager assignment only all partitions can be assigned.
// - One record before, however many offsets without a record lie between, so that the source can check that the log is
//   still the same: a topic made again may have grown past the position meanwhile.
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

// One partition's position, shared by its source and its consumer's PositionRecovery, each on its own thread.
class Position {
 public:
  enum class State : uint8_t {
    kSound,    // The log has it.
    kDoubted,  // A broker reports that its log lacks it, or its source went back to it. Nothing is fetched.
    kPlaced,   // Assigned again; nothing was heard since.
    kLost,     // Final.
  };

  explicit Position(TopicPartition at) : at_(std::move(at)) {}
  const TopicPartition& at() const { return at_; }

  // The first offset that the source has not passed; kLogStart when it begins there and has passed nothing.
  Offset next() const { return Offset(next_.load(std::memory_order_acquire)); }
  // The offset of the last returned record, if any, from which a read returns that record again.
  Offset one_before() const;
  State state() const { return state_.load(std::memory_order_acquire); }
  // False until it was part of an assignment: earlier data in the partition's queue is from an earlier assignment.
  bool assigned() const { return assigned_.load(std::memory_order_acquire); }

  // Called by the source. It has returned the record at `offset`; it has passed everything below `end`, the end of the
  // log; a broker reports that its log does not have the position.
  void returned(Offset offset);
  void reached(Offset end);
  void doubt() { state_.store(State::kDoubted, std::memory_order_release); }
  // Called by the source that goes back. Reading begins again at `offset` once the PositionRecovery has found it in the
  // log.
  void go_back(Offset offset);
  // The reason, once it is lost.
  const std::string& why_lost() const { return why_lost_; }

 private:
  friend class PositionRecovery;
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

// The positions of one consumer.
// Threading: the consumer's thread.
class PositionRecovery {
 public:
  // `client` is destroyed after its last use here.
  PositionRecovery(rd_kafka_t* client, std::string bootstrap) : client_(client), bootstrap_(std::move(bootstrap)) {}

  // Adds a partition to the next `assign`, to be read from `start` on: an offset or kLogStart.
  void add(std::shared_ptr<Position> position, Offset start);
  // Reads all partitions, each from its position on. Within a second of the last assignment it leaves that to a later
  // `serve`: librdkafka 2.0.2 aborts the process when one assignment follows another while it still stops a partition.
  // kFatal when librdkafka refuses.
  Status assign(int64_t steady_ns);
  // Removes the partition from the next `assign`. If it is added again before that, that assignment leaves it out and
  // a later one includes it: the new source must not get the old source's records in the queue.
  void remove(const TopicPartition& at);
  // Stops reading all partitions.
  void clear();

  // Decides about doubted positions; to be called often. With any, it asks at most five times a second, and waits for
  // brokers for at most 1.6 s. Fails as `assign` does.
  Status serve(int64_t steady_ns);

 private:
  struct Tracked {
    std::shared_ptr<Position> position;
    std::optional<int64_t> beyond_since_ns;  // Since when brokers report a log end before it.
    bool doubted() const { return position->state() == Position::State::kDoubted; }
  };
  bool any_doubted();
  std::vector<TopicPartition> partitions() const;
  void warn_of_unknown(const std::vector<Result<PartitionFacts>>& logs, int64_t steady_ns);
  // True when the position is in the log.
  bool judge(Tracked& tracked, const PartitionFacts& log, int64_t steady_ns);
  Status assign_now(int64_t steady_ns);
  Status assign_from(const std::vector<Offset>& starts, int64_t steady_ns);

  rd_kafka_t* const client_;
  const std::string bootstrap_;
  std::vector<Tracked> tracked_;
  std::set<TopicPartition> removed_;  // Since the last assignment.
  int64_t assign_at_ns_ = INT64_MIN;  // Not before.
  bool assign_due_ = false;
  int64_t ask_at_ns_ = 0;
  int64_t warn_at_ns_ = 0;
};

}  // namespace bloomring::kafka
