#include "pipeline/tasks/dead_letter.h"

namespace bloomring {

namespace {

constexpr size_t kReplaysBytesMax = 10;

// Cuts no UTF-8 character in half: headers are read as UTF-8.
std::string_view cut(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

// Keeps the beginning of a key or a value, and its length when it was cut.
void keep(std::string_view bytes, size_t bytes_max, std::string_view name, std::string& kept, OutRecord& letter) {
  kept = bytes.substr(0, bytes_max);
  if (kept.size() < bytes.size()) letter.headers.emplace_back(name, std::to_string(bytes.size()));
}

// All headers of the original or, when they are too many, their length and the first count of replays.
void keep_headers(const RecordHeaders& headers, OutRecord& letter) {
  size_t bytes = 0;
  for (const auto& [name, value] : headers) bytes += name.size() + value.size();
  const bool all = bytes <= kDeadLetterHeadersBytesMax && headers.size() <= kDeadLetterHeadersMax;
  if (!all) letter.headers.emplace_back(letter_header::kHeadersBytes, std::to_string(bytes));
  bool counted = false;
  for (const auto& [name, value] : headers) {
    if (name.starts_with(letter_header::kOurs)) continue;
    if (!all && (counted || name != letter_header::kReplays || value.size() > kReplaysBytesMax)) continue;
    counted |= name == letter_header::kReplays;
    letter.headers.emplace_back(name, value);
  }
}

}  // namespace

OutRecord dead_letter(const std::string& dead_topic, const RecordOrigin& origin, const LogRecord& record,
                      Refusal refusal, std::string_view message, int64_t now_ms, const RecordHeaders& headers) {
  OutRecord letter;
  letter.topic = dead_topic;
  letter.partition = PartitionId(0);
  const auto add = [&](std::string_view name, std::string_view value) { letter.headers.emplace_back(name, value); };
  add(letter_header::kReason, refusal_name(refusal));
  add(letter_header::kMessage, cut(message, kDeadLetterMessageBytesMax));
  add(letter_header::kStage, origin.stage);
  add(letter_header::kTopic, origin.topic);
  add(letter_header::kPartition, std::to_string(origin.partition.value));
  add(letter_header::kOffset, std::to_string(record.offset.value));
  add(letter_header::kTime, std::to_string(now_ms));
  add(letter_header::kLogTime, std::to_string(record.log_time_ms));
  keep(record.key, kDeadLetterKeyBytesMax, letter_header::kKeyBytes, letter.key, letter);
  keep(record.value, kDeadLetterBytesMax - letter.key.size(), letter_header::kValueBytes, letter.value, letter);
  keep_headers(headers, letter);
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
