#include "pipeline/dead_letter.h"

namespace bloomring {

OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record, Refusal refusal,
                      std::string_view message, int64_t now_ms) {
  OutRecord letter;
  letter.topic = dead_topic;
  letter.partition = PartitionId(0);
  letter.key = record.key;
  letter.value = record.value;
  letter.headers = {{"bloomring.error.reason", std::string(refusal_name(refusal))},
                    {"bloomring.error.message", std::string(message.substr(0, kDeadLetterMessageBytesMax))},
                    {"bloomring.error.stage", std::string(origin.stage)},
                    {"bloomring.error.topic", std::string(origin.topic)},
                    {"bloomring.error.partition", std::to_string(origin.partition.value)},
                    {"bloomring.error.offset", std::to_string(record.offset.value)},
                    {"bloomring.error.time", std::to_string(now_ms)}};
  return letter;
}

}  // namespace bloomring
