#include "pipeline/letters/letter.h"

#include <charconv>
#include <limits>

#include "pipeline/tasks/dead_letter.h"
#include "schemas/refusal.h"

namespace bloomring {

namespace {

std::optional<std::string_view> find(const RecordHeaders& headers, std::string_view name) {
  for (const auto& [other, value] : headers) {
    if (other == name) return value;
  }
  return std::nullopt;
}

template <typename Int>
std::optional<Int> number(const RecordHeaders& headers, std::string_view name) {
  const auto text = find(headers, name);
  if (!text) return std::nullopt;
  Int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::string text_of(const RecordHeaders& headers, std::string_view name) {
  return std::string(find(headers, name).value_or(""));
}

}  // namespace

std::optional<Letter> read_letter(std::string_view key, std::string_view value, const RecordHeaders& headers) {
  namespace header = letter_header;
  const auto partition = number<int32_t>(headers, header::kPartition);
  const auto offset = number<int64_t>(headers, header::kOffset);
  Letter letter;
  letter.reason = text_of(headers, header::kReason);
  letter.topic = text_of(headers, header::kTopic);
  if (letter.reason.empty() || letter.topic.empty()) return std::nullopt;
  if (!partition || *partition < 0 || !offset || *offset < 0) return std::nullopt;
  letter.partition = PartitionId(*partition);
  letter.offset = Offset(*offset);
  letter.message = text_of(headers, header::kMessage);
  letter.stage = text_of(headers, header::kStage);
  letter.refused_ms = number<int64_t>(headers, header::kTime).value_or(0);
  letter.log_time_ms = number<int64_t>(headers, header::kLogTime).value_or(-1);
  letter.key_bytes = number<uint64_t>(headers, header::kKeyBytes);
  letter.value_bytes = number<uint64_t>(headers, header::kValueBytes);
  letter.headers_bytes = number<uint64_t>(headers, header::kHeadersBytes);
  for (const auto& [name, text] : headers) {
    if (!name.starts_with(header::kOurs)) letter.headers.emplace_back(name, text);
  }
  // A count that is none is as good as the largest: whoever wrote it, the record is not put back for ever.
  if (find(headers, header::kReplays)) {
    letter.replays = number<uint32_t>(headers, header::kReplays).value_or(std::numeric_limits<uint32_t>::max());
  }
  letter.replayed_from = text_of(headers, header::kReplayedFrom);
  letter.key = key;
  letter.value = value;
  return letter;
}

bool Letter::is_part_of(std::string_view whole_value) const {
  return whole_value.size() == whole_value_bytes() && whole_value.starts_with(value);
}

std::string_view known_reason(std::string_view reason) {
  for (size_t i = 1; i < kRefusalCount; ++i) {
    const std::string_view name = refusal_name(static_cast<Refusal>(i));
    if (name == reason) return name;
  }
  return "other";
}

}  // namespace bloomring
