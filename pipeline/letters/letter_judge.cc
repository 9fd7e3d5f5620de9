#include "pipeline/letters/letter_judge.h"

#include <algorithm>

#include "pipeline/tasks/dead_letter.h"

namespace bloomring {

LetterJudgement LetterJudge::judge(const Letter& letter, int64_t now_ms) {
  if (!letter.of_a_play()) return {.fate = Fate::kNoPlay};
  const bool known = std::ranges::find(rules_.plays, letter.topic) != rules_.plays.end();
  if (rules_.to.empty() && !known) return {.fate = Fate::kNoTopic};
  if (letter.replays >= rules_.attempts_max) return {.fate = Fate::kTooOften};
  if (!letter.value_bytes) {
    LetterJudgement judgement = judge_value(letter.value, now_ms);
    if (judgement.fate == Fate::kPutBack && letter.cut()) judgement.fate = Fate::kReadWhole;  // Key or headers are cut.
    return judgement;
  }
  if (*letter.value_bytes > rules_.mapping.record_bytes_max) {
    return {.fate = Fate::kRefused,
            .refusal = Refusal::kTooLarge,
            .detail = "the record has " + std::to_string(*letter.value_bytes) + " bytes; events.record_bytes_max is " +
                      std::to_string(rules_.mapping.record_bytes_max)};
  }
  return {.fate = Fate::kReadWhole};
}

LetterJudgement LetterJudge::judge_value(std::string_view value, int64_t now_ms) {
  Play play;
  const Refusal refusal = parser_.parse(value, now_ms, play);
  if (refusal != Refusal::kNone) return {.fate = Fate::kRefused, .refusal = refusal, .detail = parser_.detail()};
  return {.fate = play.skip == Skip::kNone ? Fate::kPutBack : Fate::kIgnored};
}

std::optional<int64_t> time_to_write(int64_t log_time_ms, int64_t now_ms, std::optional<int64_t> kept_ms,
                                     std::optional<int64_t> behind_max_ms) {
  if (log_time_ms < 0 || log_time_ms > now_ms || !kept_ms || !behind_max_ms) return std::nullopt;
  const int64_t age_ms = now_ms - log_time_ms;
  // Half of its retention, so that ingest has the other half to read it.
  if (*kept_ms >= 0 && age_ms > *kept_ms / 2) return std::nullopt;
  if (*behind_max_ms >= 0 && age_ms > *behind_max_ms / 2) return std::nullopt;
  return log_time_ms;
}

OutRecord put_back_record(const std::string& topic, PartitionId partition, std::string key, std::string value,
                          const RecordHeaders& headers, uint32_t replays, const std::string& from) {
  OutRecord record{topic, partition, std::move(key), std::move(value), {}};
  for (const auto& [name, text] : headers) {
    if (name == letter_header::kReplays || name == letter_header::kReplayedFrom) continue;
    record.headers.emplace_back(name, text);
  }
  record.headers.emplace_back(letter_header::kReplays, std::to_string(replays));
  record.headers.emplace_back(letter_header::kReplayedFrom, from);
  return record;
}

}  // namespace bloomring
