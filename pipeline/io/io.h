// The interfaces of a task to the log: one partition in, records out. Kafka (pipeline/kafka) and the in-memory log of
// the simulation implement them, so a task runs on either.
//
// Guarantees: a source returns the records of a partition in the order of their offsets, each at least once. An
// acknowledged record is durable, and comes in its partition after every record that was acknowledged before it was
// sent.
// Threading: one task, one thread; an instance is used by its task's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

// A record as read. Borrows: the source keeps the bytes until its next `poll` or its end. To use them longer, copy
// them.
struct LogRecord {
  Offset offset;
  int64_t log_time_ms = 0;  // The record's timestamp in the log: Unix milliseconds.
  std::string_view key;
  std::string_view value;
};

// Names and values, in their order; a name may occur more than once.
using RecordHeaders = std::vector<std::pair<std::string, std::string>>;

// One partition of one topic, read in order.
class Source {
 public:
  virtual ~Source() = default;
  // The next record, or nothing when none is available. Never blocks. kFatal when the log no longer has the position,
  // with the number of lost records in the message (`lost_position` is then true), or when it has other records there.
  virtual Result<std::optional<LogRecord>> poll() = 0;
  // The headers of the record that `poll` returned last, parsed by this call: few readers need them.
  virtual RecordHeaders headers() const { return {}; }
  // Every record below this offset was returned. Other offsets below it hold no record (transaction markers, aborted
  // and compacted records). A log may have any number of such offsets, also at its end; the position passes those at
  // the end when it has been read to there. Negative while unknown.
  virtual Offset position() const = 0;
  // True when every record was returned that the partition had at the last answer of the log.
  virtual bool at_end() const = 0;
  // True after `poll` failed because retention passed the position, or because the topic was truncated or made again.
  virtual bool lost_position() const = 0;
  // The first offset that the log still has, as last heard; -1 while unknown.
  virtual Offset log_start() const = 0;
  // The end of the log (offset of the next record to be written) as last heard; -1 while unknown.
  virtual Offset log_end() const = 0;
  // Asks that `next` (the first offset not done with) be recorded for the group. Asynchronous, best effort: a lost
  // commit only means that records are read again.
  virtual void commit(Offset next) = 0;
  // Makes the source return again the record at `offset`, which it returned before, and all later ones. They may take
  // a while to come; `position` changes at once.
  virtual void go_back(Offset offset) = 0;
};

// A record to be written.
struct OutRecord {
  std::string topic;
  PartitionId partition;
  std::string key;
  std::string value;
  RecordHeaders headers;
  // The time that the producer gives it, which a topic with LogAppendTime replaces. Nothing: now.
  std::optional<int64_t> time_ms = {};
};

// Writes records and says when they are durable.
class Sink {
 public:
  virtual ~Sink() = default;
  // Takes the record for writing; `ticket` comes back from `poll_acks` once it is durable. kRetry when the queue is
  // full: nothing was taken (the record is left as it was), try again after `poll_acks`.
  virtual Status send(OutRecord& record, uint64_t ticket) = 0;
  // Appends the tickets that became durable since the last call, in any order. kFatal when a record cannot be
  // written at all (unknown topic, too large, not authorised).
  virtual Status poll_acks(std::vector<uint64_t>& tickets) = 0;
  // The newest timestamp that brokers gave the records of the last `poll_acks`, by their own clocks: Unix
  // milliseconds, 0 if they stamped none. Nothing: this sink never knows.
  virtual std::optional<int64_t> broker_time_ms() const { return std::nullopt; }
};

}  // namespace bloomring
