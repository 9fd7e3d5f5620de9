#include "pipeline/tasks/dead_letter.h"

namespace bloomring {

namespace {

// Cuts no UTF-8 character in half: headers are read as UTF-8.
std::string_view cut(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

// Keeps the beginning of a key or a value, and its length when it was cut.
void keep(std::string_view bytes, size_t bytes_max, const char* name, std::string& kept, OutRecord& letter) {
  kept = bytes.substr(0, bytes_max);
  if (kept.size() < bytes.size()) letter.headers.emplace_back(name, std::to_string(bytes.size()));
}

}  // namespace

OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record,
                      Refusal refusal, std::string_view message, int64_t now_ms) {
  OutRecord letter;
  letter.topic = dead_topic;
  letter.partition = PartitionId(0);
  letter.headers = {{"bloomring.error.reason", std::string(refusal_name(refusal))},
                    {"bloomring.error.message", std::string(cut(message, kDeadLetterMessageBytesMax))},
                    {"bloomring.error.stage", std::string(origin.stage)},
                    {"bloomring.error.topic", std::string(origin.topic)},
                    {"bloomring.error.partition", std::to_string(origin.partition.value)},
                    {"bloomring.error.offset", std::to_string(record.offset.value)},
                    {"bloomring.error.time", std::to_string(now_ms)}};
  keep(record.key, kDeadLetterKeyBytesMax, "bloomring.error.key_bytes", letter.key, letter);
  keep(record.value, kDeadLetterBytesMax - letter.key.size(), "bloomring.error.value_bytes", letter.value, letter);
  return letter;
}

void DeadLetterGate::refuse(const LogRecord& record, Refusal refusal, std::string_view message, int64_t now_ms) {
  BLOOMRING_CHECK(open(), "nothing is read while a dead letter is under way");
  letter_ = dead_letter(dead_topic_, origin_, record, refusal, message, now_ms);
  sent_ = false;
  place_ = {record.offset, record.log_time_ms};
}

Status DeadLetterGate::send(Sink& sink, uint64_t ticket) {
  if (!letter_ || sent_) return {};
  Status sent = sink.send(*letter_, ticket);
  if (sent.code() == Code::kRetry) return {};
  sent_ = sent.ok();
  return sent;
}

DeadLetterGate::Place DeadLetterGate::acknowledged() {
  ++letters_;
  letter_.reset();
  return place_;
}

}  // namespace bloomring
