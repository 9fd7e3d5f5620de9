#include "pipeline/letters/letter_selection.h"

#include <absl/time/time.h>

#include <algorithm>
#include <charconv>

#include "base/config/nearest.h"
#include "base/words.h"
#include "schemas/refusal.h"

namespace bloomring {

namespace {

constexpr int64_t kAgoMax = 100'000'000;  // Of any unit: far more than a topic keeps, and no overflow in milliseconds.

std::optional<int64_t> unit_ms(std::string_view unit) {
  if (unit == "s") return 1'000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return std::nullopt;
}

}  // namespace

bool selects(const LetterSelection& selection, const DeadRecord& record) {
  if (selection.since_ms && record.log_time_ms < *selection.since_ms) return false;
  if (selection.until_ms && record.log_time_ms >= *selection.until_ms) return false;
  if (!record.letter) return selection.takes_foreign();
  const Letter& letter = *record.letter;
  if (!selection.topic.empty() && letter.topic != selection.topic) return false;
  if (selection.partition && letter.partition.value != *selection.partition) return false;
  return selection.reasons.empty() || std::ranges::find(selection.reasons, letter.reason) != selection.reasons.end();
}

Status check_reasons(const std::vector<std::string>& reasons) {
  std::vector<std::string> known;
  for (size_t i = 1; i < kRefusalCount; ++i) known.emplace_back(refusal_name(static_cast<Refusal>(i)));
  for (const std::string& reason : reasons) {
    if (std::ranges::find(known, reason) != known.end()) continue;
    const std::string nearest = nearest_name(reason, known);
    return invalid("--reason " + reason + " is no reason of a refusal" +
                   (nearest.empty() ? "" : "; did you mean " + nearest + "?") + " There are: " + joined(known));
  }
  return {};
}

Result<int64_t> parse_when(const std::string& flag, const std::string& text, int64_t now_ms) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && number >= 0) {
    if (rest == end) return number;
    const auto unit = unit_ms(std::string_view(rest, static_cast<size_t>(end - rest)));
    if (unit && number <= kAgoMax) return now_ms - number * *unit;
  }
  absl::Time time;
  std::string why;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &why)) return absl::ToUnixMillis(time);
  return invalid(flag + " " + text +
                 ": give a time as 2026-11-02T10:15:00Z, in Unix milliseconds, or before now as 90s, 30m, 12h or 7d");
}

}  // namespace bloomring
