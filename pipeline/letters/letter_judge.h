// Decides what becomes of a dead letter that is to be put back: the parser of ingest reads it with the settings of now.
//
//   not from ingest, nor from a replay                     kNoPlay
//   put back `attempts_max` times before                   kTooOften
//   its topic is none of topics.plays, and no other given  kNoTopic
//   the parser refuses it                                  kRefused, with the reason of now
//   the parser skips it by the configuration               kIgnored
//   it was cut, and may be accepted when it is whole       kReadWhole: read the original, and judge that
//   otherwise                                              kPutBack
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/letters/letter.h"
#include "schemas/json/play_json.h"

namespace bloomring {

enum class Fate : uint8_t { kPutBack, kReadWhole, kIgnored, kRefused, kTooOften, kNoPlay, kNoTopic };

struct LetterJudgement {
  Fate fate = Fate::kPutBack;
  Refusal refusal = Refusal::kNone;  // Of kRefused.
  std::string detail = {};           // Of kRefused: the parser's.
};

struct LetterRules {
  PlayMapping mapping;
  std::vector<std::string> plays;  // topics.plays: whence letters are put back to where they came from.
  std::string to = {};             // Another topic, for all; empty: each to its own.
  uint32_t attempts_max = 3;
};

class LetterJudge {
 public:
  explicit LetterJudge(LetterRules rules) : rules_(std::move(rules)), parser_(rules_.mapping) {}

  LetterJudgement judge(const Letter& letter, int64_t now_ms);
  // By the value alone, once it is whole: kPutBack, kIgnored or kRefused.
  LetterJudgement judge_value(std::string_view value, int64_t now_ms);
  // The topic to which a letter is put back.
  const std::string& target(const Letter& letter) const { return rules_.to.empty() ? letter.topic : rules_.to; }


 private:
  const LetterRules rules_;
  PlayParser parser_;
};

// The time that a record gets when it is put back: its own, as long as its topic surely keeps the record until ingest
// has read it; otherwise nothing, which is the time of writing. `kept_ms` is the topic's retention.ms, and
// `behind_max_ms` its message.timestamp.before.max.ms; negative: unlimited. Nothing: not known.
std::optional<int64_t> time_to_write(int64_t log_time_ms, int64_t now_ms, std::optional<int64_t> kept_ms,
                                     std::optional<int64_t> behind_max_ms);

// The record to write: key, value and headers of the original, and the count of replays.
OutRecord put_back_record(const std::string& topic, PartitionId partition, std::string key, std::string value,
                          const RecordHeaders& headers, uint32_t replays, const std::string& from);

}  // namespace bloomring
