// The dead letters that a command is about: by reason, by the time at which they were written, and by the place of the
// refused record.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/letters/letter.h"

namespace bloomring {

struct LetterSelection {
  std::vector<std::string> reasons = {};    // Empty: all.
  std::optional<int64_t> since_ms = {};     // By the time of the letter in its topic: [since, until).
  std::optional<int64_t> until_ms = {};
  std::string topic = {};                   // That the refused record lies in; empty: any.
  std::optional<int32_t> partition = {};    // Of that topic.

  // True when foreign records are in it: it asks for nothing that they do not tell.
  bool takes_foreign() const { return reasons.empty() && topic.empty() && !partition; }
};

bool selects(const LetterSelection& selection, const DeadRecord& record);

// kInvalid, with the nearest word, unless each is a reason of the closed list.
Status check_reasons(const std::vector<std::string>& reasons);

// Unix milliseconds of RFC 3339 text ("2026-11-02T10:15:00Z"), of a number of milliseconds, or of a time before now
// ("90s", "30m", "12h", "7d"). `flag` is for the message.
Result<int64_t> parse_when(const std::string& flag, const std::string& text, int64_t now_ms);

}  // namespace bloomring
