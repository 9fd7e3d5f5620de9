// What a task reads from and writes to: one partition of a log in, records out. Kafka implements these interfaces
// (pipeline/kafka), and so does the in-memory log of the simulation, so a task cannot tell which it runs on.
//
// Guarantee that both carry: records of a partition are returned in the order of their offsets, each at least once;
// an acknowledged record is durable and in its partition's order behind every record that was acknowledged before it
// was sent.
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

// A record as it was read. Borrows: the source keeps the bytes until its next `poll` or its end; who needs them longer
// copies them.
struct LogRecord {
  Offset offset;
  int64_t log_time_ms = 0;  // The record's timestamp in the log: Unix milliseconds.
  std::string_view key;
  std::string_view value;
};

// One partition of one topic, read in order.
class Source {
 public:
  virtual ~Source() = default;
  // The next record, or nothing when none is at hand. Never blocks. kFatal when the log does not have the position any
  // more, with how many records are lost in the message (`lost_position` is then true), or has other records there.
  virtual Result<std::optional<LogRecord>> poll() = 0;
  // The first offset that is not passed: every record below it was returned. What else lies below is no record (markers
  // of transactions, aborted and compacted records): a log may have any number of such offsets, also at its end, where
  // the position passes them when the log was read to there. Negative while unknown.
  virtual Offset position() const = 0;
  // True when every record that was in the partition when the log was last asked has been returned.
  virtual bool at_end() const = 0;
  // True after `poll` failed because retention passed the position, or because the topic was cut or made anew.
  virtual bool lost_position() const = 0;
  // The first offset that the log still has, as last heard; -1 while unknown.
  virtual Offset log_start() const = 0;
  // The end of the log (offset of the next record to be written) as last heard; -1 while unknown.
  virtual Offset log_end() const = 0;
  // Asks that `next` (the first offset not done with) be recorded for the group. Asynchronous, best effort: a lost
  // commit only means that records are read again.
  virtual void commit(Offset next) = 0;
  // Returns the record at `offset`, which was returned before, and all behind it once more. It may take a while until
  // they come; `position` is there at once.
  virtual void go_back(Offset offset) = 0;
};

// A record to be written.
struct OutRecord {
  std::string topic;
  PartitionId partition;
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
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
  // The newest time that brokers stamped the records of the last `poll_acks` with, by their own clocks: Unix
  // milliseconds, 0 where they stamped none. Nothing: this sink never tells.
  virtual std::optional<int64_t> broker_time_ms() const { return std::nullopt; }
};

}  // namespace bloomring
