// Dead letters: refused records, written as they were to the dead-letter topic with the reason in their headers.
//
// Headers are UTF-8 text: bloomring.error.{reason,message,stage,topic,partition,offset,time}. Key and value are the
// original bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/io.h"
#include "schemas/play_json.h"

namespace bloomring {

// Where a refused record stood.
struct RecordOrigin {
  std::string_view stage;  // "ingest", "window", "merge"
  std::string_view topic;
  PartitionId partition;
};

// The longest message in a dead letter's header, in bytes.
inline constexpr size_t kDeadLetterMessageBytesMax = 512;

OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record,
                      Refusal refusal, std::string_view message, int64_t now_ms);

}  // namespace bloomring
