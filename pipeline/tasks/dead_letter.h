// Dead letters: refused records, written unchanged to the dead-letter topic with the reason in their headers.
//
// Headers are UTF-8 text: bloomring.error.{reason,message,stage,topic,partition,offset,time}. Key and value are the
// original bytes. If they are larger than a letter may be, they are cut, and bloomring.error.key_bytes or
// bloomring.error.value_bytes gives the original length; the whole record stays in its topic until retention removes
// it. The headers of the original are not copied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/io/io.h"
#include "schemas/json/play_json.h"

namespace bloomring {

// Where a refused record came from. Borrows literals and settings of the task that refuses it.
struct RecordOrigin {
  std::string_view stage;  // "ingest", "window", "merge"
  std::string_view topic;
  PartitionId partition;
};

// The longest message in a dead letter's header, in bytes.
inline constexpr size_t kDeadLetterMessageBytesMax = 512;
// The most bytes of a key, and of key and value together: with headers and Kafka's overhead below kMessageBytesMax.
inline constexpr size_t kDeadLetterKeyBytesMax = 100'000;
inline constexpr size_t kDeadLetterBytesMax = 900'000;

OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record,
                      Refusal refusal, std::string_view message, int64_t now_ms);

}  // namespace bloomring
