#include "pipeline/jobs/letters/replay_plan.h"

#include <map>

#include "base/words.h"
#include "schemas/refusal.h"

namespace bloomring {

namespace {

constexpr int64_t kPatienceMs = 30'000;

using Numbers = std::map<std::string, uint64_t>;

// The letters of one reason.
struct Row {
  uint64_t letters = 0;
  Numbers put_back;   // By topic.
  Numbers read_whole;
  uint64_t original_gone = 0;
  Numbers refused;  // By the reason of now.
  uint64_t ignored = 0, too_often = 0, no_topic = 0, no_play = 0, superseded = 0;
};

// "8 missing_field, 4 malformed_json".
std::string listed(const Numbers& numbers) {
  std::vector<std::string> parts;
  for (const auto& [word, number] : numbers) parts.push_back(std::to_string(number) + " " + word);
  return joined(parts);
}

uint64_t sum(const Numbers& numbers) {
  uint64_t all = 0;
  for (const auto& [word, number] : numbers) all += number;
  return all;
}

std::string to_text(const Row& row) {
  std::string text = std::to_string(row.letters) + (row.letters == 1 ? " letter" : " letters");
  const char* separator = ": ";
  const auto add = [&](uint64_t number, const std::string& words) {
    if (number == 0) return;
    text += separator + std::to_string(number) + " " + words;
    separator = "; ";
  };
  for (const auto& [topic, number] : row.put_back) add(number, "to " + topic);
  for (const auto& [topic, number] : row.read_whole)
    add(number, "cut, to be read whole from their topic and judged then, for " + topic);
  add(row.original_gone, "cut, and their topic no longer has the whole record");
  add(sum(row.refused), "refused again with the settings of now (" + listed(row.refused) + ")");
  add(row.ignored, "ignored with the settings of now");
  add(row.superseded, "put back before and refused again, for which later letters stand");
  add(row.too_often, "put back too often already (--attempts)");
  add(row.no_topic, "from a topic that is none of topics.plays (--to names another one)");
  add(row.no_play, "of stages window and merge, no plays");
  return text;
}

Status add(Row& row, const Letter& letter, LetterJudge& judge, LetterWorld& world, int64_t now_ms) {
  const LetterJudgement judgement = judge.judge(letter, now_ms);
  switch (judgement.fate) {
    case Fate::kPutBack: ++row.put_back[judge.target(letter)]; break;
    case Fate::kIgnored: ++row.ignored; break;
    case Fate::kRefused: ++row.refused[std::string(refusal_name(judgement.refusal))]; break;
    case Fate::kTooOften: ++row.too_often; break;
    case Fate::kNoPlay: ++row.no_play; break;
    case Fate::kNoTopic: ++row.no_topic; break;
    case Fate::kReadWhole:
      BLOOMRING_TRY_ASSIGN(const bool there, world.has_original(letter));
      ++(there ? row.read_whole[judge.target(letter)] : row.original_gone);
      break;
  }
  return {};
}

}  // namespace

Result<SupersededLetters> find_superseded(LetterWorld& world, std::optional<int64_t> since_ms) {
  BLOOMRING_TRY_ASSIGN(std::vector<LetterRange> held, world.held(since_ms));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<DeadRecords> reader, world.read(std::move(held)));
  SupersededLetters superseded;
  BLOOMRING_TRY(reader->read_all(kPatienceMs, [&](DeadRecord& record) -> Status {
    superseded.add(record);
    return {};
  }));
  return superseded;
}

Result<JobPlan> plan_replay(const std::string& dead_topic, const LetterSelection& selection, LetterJudge& judge,
                            LetterWorld& world, int64_t now_ms) {
  BLOOMRING_TRY_ASSIGN(const SupersededLetters superseded, find_superseded(world, selection.since_ms));
  BLOOMRING_TRY_ASSIGN(std::vector<LetterRange> held, world.held(selection.since_ms));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<DeadRecords> reader, world.read(std::move(held)));
  JobPlan plan;
  std::map<std::string, Row> rows;
  uint64_t foreign = 0, selected = 0;
  BLOOMRING_TRY(reader->read_all(kPatienceMs, [&](DeadRecord& record) -> Status {
    ++plan.total;
    if (!selects(selection, record)) return {};
    if (!record.letter) {
      ++foreign;
      return {};
    }
    Row& row = rows[std::string(known_reason(record.letter->reason))];
    ++row.letters;
    if (!superseded.contains(dead_topic, record)) return add(row, *record.letter, judge, world, now_ms);
    ++row.superseded;
    return {};
  }));
  Numbers written;
  uint64_t stay = 0;
  for (const auto& [reason, row] : rows) selected += row.letters;
  plan.facts.push_back({"selected", std::to_string(selected) + " letters of " + dead_topic});
  for (const auto& [reason, row] : rows) {
    plan.facts.push_back({reason, to_text(row)});
    for (const auto& [topic, number] : row.put_back) written[topic] += number;
    for (const auto& [topic, number] : row.read_whole) written[topic] += number;
    stay += row.letters - sum(row.put_back) - sum(row.read_whole) - row.ignored - row.superseded;
  }
  if (foreign > 0) plan.facts.push_back({"foreign", std::to_string(foreign) + " records of other programs"});
  for (const auto& [topic, number] : written) {
    BLOOMRING_TRY(world.target(topic).status());
    plan.touches.push_back("writes up to " + std::to_string(number) + " records to topic " + topic);
  }
  if (stay > 0) {
    plan.warnings.push_back(std::to_string(stay) +
                            " letters would stay where they are; `bloomring dlq show` has each with its reason");
  }
  if (!written.empty()) {
    plan.warnings.push_back(
        "letters were judged by the settings of this command: ingest must run with the same keys under `events`, so "
        "restart it after a change of them");
  }
  return plan;
}

}  // namespace bloomring
