// An in-memory log with the faults of a real one, for the simulation.
//
// The fault model: a record that was sent is appended later, or twice (a retry whose first try had arrived), or in
// another order than it was sent among unacknowledged ones (retries without idempotence), or, when its sender died,
// perhaps never. It is acknowledged after it was appended, later still. Commits may be lost. What was appended and
// acknowledged is never lost, but by a cut. Everything random comes from one generator, so that a seed repeats a run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/io/io.h"

namespace bloomring::simulation {

using Random = std::mt19937_64;

// True with probability 1/n.
inline bool one_in(Random& random, uint64_t n) { return random() % n == 0; }

struct StoredRecord {
  int64_t log_time_ms;
  int64_t appended_ms;  // When it really was appended; the log time is what the broker's clock says of it.
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
  bool gap = false;  // An offset that no record has: of a marker of a transaction, or of an aborted record.
};

class SimLog {
 public:
  // Log times are of `clock`, the brokers'; `truth` says what time it really is.
  SimLog(Random& random, const Clock& clock) : SimLog(random, clock, clock) {}
  SimLog(Random& random, const Clock& clock, const Clock& truth) : random_(random), clock_(clock), truth_(truth) {}

  std::vector<StoredRecord>& partition(const std::string& topic, PartitionId partition) {
    return topics_[{topic, partition.value}];
  }
  const std::vector<StoredRecord>& partition(const std::string& topic, PartitionId partition) const {
    static const std::vector<StoredRecord> kEmpty;
    const auto found = topics_.find({topic, partition.value});
    return found == topics_.end() ? kEmpty : found->second;
  }
  // Appends directly, as a producer of its own that is never wrong.
  void append(const std::string& topic, PartitionId partition, std::string value);
  // FAULT: offsets without a record, also at the log's end.
  void append_gap(const std::string& topic, PartitionId partition);
  // FAULT: an unclean election takes what lies from `end` on away.
  void cut(const std::string& topic, PartitionId at, Offset end) {
    auto& records = partition(topic, at);
    records.erase(records.begin() + end.value, records.end());
  }
  // FAULT: retention removes what lies below.
  Offset& start(const std::string& topic, PartitionId partition) { return starts_[{topic, partition.value}]; }
  Offset start_of(const std::string& topic, PartitionId partition) const {
    const auto found = starts_.find({topic, partition.value});
    return found == starts_.end() ? Offset(0) : found->second;
  }
  Offset end(const std::string& topic, PartitionId at) {
    return Offset(static_cast<int64_t>(partition(topic, at).size()));
  }
  int64_t& committed(const std::string& group, const std::string& topic, PartitionId partition);

  // Records under way to this topic never arrive.
  void lose_in_flight(const std::string& topic) {
    std::erase_if(in_flight_, [&](const InFlight& flight) { return flight.record.topic == topic; });
  }
  // Lets some of what is under way arrive.
  void pump();
  // FAULT: how often things go wrong; 0 is a quiet network.
  int trouble = 1;
  // FAULT: partitions that nobody leads: what is under way to them stays under way.
  std::set<std::pair<std::string, int32_t>> leaderless;
  // FAULT: log times of this topic that are ahead by up to so much, one in a hundred. The acknowledgement tells the
  // right time: ingest compares its clock with it.
  std::string ahead_topic;
  int64_t ahead_max_ms = 0;
  // By topic: a larger record is refused for good, as by a broker's max.message.bytes.
  std::map<std::string, size_t> record_bytes_max;

 private:
  friend class SimSink;
  friend class SimSource;
  struct Ack {
    uint64_t ticket;
    int64_t log_time_ms;  // Of the record, as brokers tell it.
  };
  using Acks = std::vector<Ack>;
  struct InFlight {
    OutRecord record;
    uint64_t ticket;
    std::weak_ptr<Acks> acks;  // Gone when the sender died.
  };
  void arrive(InFlight& flight);
  void put(const std::string& topic, PartitionId partition, const OutRecord& record);
  int64_t stamp_ms(const std::string& topic);

  Random& random_;
  const Clock& clock_;
  const Clock& truth_;
  std::map<std::pair<std::string, int32_t>, std::vector<StoredRecord>> topics_;
  std::map<std::pair<std::string, int32_t>, Offset> starts_;
  std::map<std::tuple<std::string, std::string, int32_t>, int64_t> commits_;
  std::vector<InFlight> in_flight_;
};

class SimSink final : public Sink {
 public:
  explicit SimSink(SimLog& log) : log_(log), acks_(std::make_shared<SimLog::Acks>()) {}
  Status send(OutRecord& record, uint64_t ticket) override;
  Status poll_acks(std::vector<uint64_t>& tickets) override;
  std::optional<int64_t> broker_time_ms() const override { return broker_time_ms_; }

 private:
  static constexpr size_t kQueueMax = 64;
  SimLog& log_;
  std::shared_ptr<SimLog::Acks> acks_;  // Shared with the records in flight.
  int64_t broker_time_ms_ = 0;
};

class SimSource final : public Source {
 public:
  SimSource(SimLog& log, std::string group, std::string topic, PartitionId partition, Offset start)
      : log_(log), group_(std::move(group)), topic_(std::move(topic)), partition_(partition), next_(start.value) {}
  Result<std::optional<LogRecord>> poll() override;
  Offset position() const override { return Offset(next_); }
  bool at_end() const override;
  bool lost_position() const override { return false; }
  Offset log_start() const override { return log_.start(topic_, partition_); }
  Offset log_end() const override;
  void commit(Offset next) override;
  void go_back(Offset offset) override { next_ = offset.value; }

 private:
  SimLog& log_;
  std::string group_;
  std::string topic_;
  PartitionId partition_;
  int64_t next_;
  StoredRecord record_;  // The last one: its bytes stay when the log moves them.
};

}  // namespace bloomring::simulation
