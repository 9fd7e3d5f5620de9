// Dead letters: refused records, written unchanged to the dead-letter topic with the reason in their headers.
//
// Headers are UTF-8 text: bloomring.error.{reason,message,stage,topic,partition,offset,time,log_time}. Key and value
// are the original bytes, and the headers of the original follow ours. Bytes beyond the size of a letter are cut, and
// bloomring.error.key_bytes, value_bytes or headers_bytes gives the original length; the whole record stays in its
// topic until retention removes it. pipeline/letters reads letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/io/io.h"
#include "schemas/refusal.h"

namespace bloomring {

// Where a refused record came from. Borrows literals and settings of the task that refuses it.
struct RecordOrigin {
  std::string_view stage;  // "ingest", "window", "merge"
  std::string_view topic;
  PartitionId partition;
};

// Names of headers. A letter has the ones of `error` first, then those of the original record.
namespace letter_header {
inline constexpr std::string_view kOurs = "bloomring.error.";  // An original's header of such a name is not copied.
inline constexpr std::string_view kReason = "bloomring.error.reason";
inline constexpr std::string_view kMessage = "bloomring.error.message";
inline constexpr std::string_view kStage = "bloomring.error.stage";
inline constexpr std::string_view kTopic = "bloomring.error.topic";
inline constexpr std::string_view kPartition = "bloomring.error.partition";
inline constexpr std::string_view kOffset = "bloomring.error.offset";
inline constexpr std::string_view kTime = "bloomring.error.time";
inline constexpr std::string_view kLogTime = "bloomring.error.log_time";
inline constexpr std::string_view kKeyBytes = "bloomring.error.key_bytes";
inline constexpr std::string_view kValueBytes = "bloomring.error.value_bytes";
inline constexpr std::string_view kHeadersBytes = "bloomring.error.headers_bytes";
// Of a record that `bloomring dlq replay` has put back: how often, and from which letter.
inline constexpr std::string_view kReplays = "bloomring.replay.count";
inline constexpr std::string_view kReplayedFrom = "bloomring.replay.from";
}  // namespace letter_header

// The longest message in a dead letter's header, in bytes.
inline constexpr size_t kDeadLetterMessageBytesMax = 512;
// The most bytes of a key, and of key and value together: with headers and Kafka's overhead below kMessageBytesMax.
inline constexpr size_t kDeadLetterKeyBytesMax = 100'000;
inline constexpr size_t kDeadLetterBytesMax = 900'000;
// The most bytes of the original's headers, names and values. Of more, a letter has the count of replays alone.
inline constexpr size_t kDeadLetterHeadersBytesMax = 64'000;
inline constexpr size_t kDeadLetterHeadersMax = 1'000;  // Each takes some bytes more.

// Ingest calls this itself and sends the letter through its lanes (ingest_lanes.h): one of many records that it has in
// flight. It reads on meanwhile, so it has no gate; its commit waits for the letter.
OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record,
                      Refusal refusal, std::string_view message, int64_t now_ms, const RecordHeaders& headers = {});

// Holds a task at a refused record until the record's dead letter is durable. The task reads nothing meanwhile, so
// every record below its position is applied or in the dead letters. One letter at a time.
// Threading: used by the task.
class DeadLetterGate {
 public:
  // `origin` borrows as RecordOrigin says.
  DeadLetterGate(std::string dead_topic, const RecordOrigin& origin)
      : dead_topic_(std::move(dead_topic)), origin_(origin) {}

  // True while no letter is under way.
  bool open() const { return !letter_; }
  // Closes the gate, which is open.
  void refuse(const LogRecord& record, Refusal refusal, std::string_view message, int64_t now_ms);
  // Sends the letter under way, if it is not sent yet. While the sink's queue is full it does nothing: call it at each
  // step.
  Status send(Sink& sink, uint64_t ticket);
  // The letter is durable: opens the gate, and returns the place of the refused record.
  struct Place {
    Offset offset;
    int64_t log_time_ms = 0;
  };
  Place acknowledged();
  uint64_t letters() const { return letters_; }  // Durable ones, since the start.

 private:
  const std::string dead_topic_;
  const RecordOrigin origin_;
  std::optional<OutRecord> letter_;
  bool sent_ = false;
  Place place_;
  uint64_t letters_ = 0;
};

}  // namespace bloomring
