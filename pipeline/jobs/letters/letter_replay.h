// The job of `bloomring dlq replay`: puts dead letters back into topics of plays, once the cause of their refusal is
// mended.
//
//   topic of dead letters -> selection -> judge -> (original, of what was cut) -> topic of plays -> acknowledged
//
// Guarantees:
//   - A letter is judged by the parser of ingest with the settings of now (pipeline/letters/letter_judge.h): what would
//     be refused again is counted and left where it is.
//   - The position passes a letter only when its record is acknowledged or will not be written. A kill puts back again
//     what was written since the last saved position: a play that comes twice is one play.
//   - The end of the job is that of the topic at its first start: letters that its own records cause are not in it.
//   - A record that was put back carries its count, which its next letter has too. At `attempts_max` it stays. The
//     letter before is passed (pipeline/letters/superseded_letters.h).
// Memory: kFlightBytesMax of records that are not acknowledged and one more, and what the reader fetched ahead.
// Threading, Errors: as Job. kFatal when a topic of plays takes nothing of ours.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/letters/letter_world.h"
#include "pipeline/jobs/letters/replay_position.h"
#include "pipeline/letters/letter_judge.h"
#include "pipeline/letters/letter_selection.h"
#include "pipeline/letters/superseded_letters.h"

namespace bloomring {

struct LetterReplayConfig {
  std::string dead_topic;
  LetterSelection selection;
  LetterRules rules;
  JobParameters parameters;  // The selection and the rules as they were typed.
};

class LetterReplay final : public Job {
 public:
  static constexpr size_t kFlightMax = 1'000;
  static constexpr size_t kFlightBytesMax = 32 << 20;
  static constexpr size_t kReadsPerStepMax = 2'000;

  // `world` and `clock` outlive the job.
  LetterReplay(LetterReplayConfig config, LetterWorld& world, const Clock& clock)
      : config_(std::move(config)), judge_(config_.rules), world_(world), clock_(clock) {}

  std::string_view kind() const override { return "dlq-replay"; }
  std::string_view unit() const override { return "records"; }       // Of the topic of dead letters.
  std::string_view rate_unit() const override { return "letters"; }  // Of the selection.
  JobParameters parameters() const override { return config_.parameters; }
  Result<JobPlan> plan() override;
  Status begin(const JobStart& start) override;
  Result<JobStep> step(uint64_t units_max, int64_t now_ms) override;
  Result<bool> settle(int64_t now_ms) override;
  std::string position() const override { return encode_position(position_); }
  JobProgress progress() const override { return {position_.done(), position_.total()}; }
  JobCounts counts() const override;
  bool differences() const override;

 private:
  // The reports of the writer's thread; shared with it, as it may tell after the job has ended.
  struct Outcome {
    uint64_t ticket = 0;
    Code code = Code::kOk;
    std::string message;
  };
  struct Mailbox {
    std::mutex mutex;
    std::vector<Outcome> outcomes;  // Guarded by mutex.
  };
  struct Place {
    PartitionId partition;
    Offset offset;
  };
  struct Flight {
    Place place;
    std::string reason = {};
    OutRecord record = {};
    size_t bytes = 0;
  };

  Result<const TargetTopic*> target(const std::string& topic);
  Status take(DeadRecord& record, int64_t now_ms);
  Status put_back(const DeadRecord& record, Letter& letter, int64_t now_ms);
  Status put_back_whole(const DeadRecord& record, Letter& letter, int64_t now_ms);
  void send_waiting();
  Status take_outcomes();
  void count(const char* name, std::string_view reason) { ++counts_[{name, std::string(reason)}]; }
  void count_refused(const Place& place, const LetterJudgement& judgement);
  void move_position();

  const LetterReplayConfig config_;
  LetterJudge judge_;
  LetterWorld& world_;
  const Clock& clock_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  LetterSelection selection_;  // With the times of the first start.
  ReplayPosition position_;
  SupersededLetters superseded_;
  std::unique_ptr<DeadRecords> reader_;
  std::optional<DeadRecord> held_;                  // Read, and not done with: something outside did not answer.
  std::map<PartitionId, Offset> read_to_;           // Everything below was taken.
  std::map<uint64_t, Flight> flights_;              // By ticket, in the order of reading.
  std::set<uint64_t> waiting_;                      // Of them, those that the writer has not taken.
  std::map<PartitionId, std::set<Offset>> open_;    // Their offsets.
  size_t flight_bytes_ = 0;
  uint64_t next_ticket_ = 0;
  std::map<std::string, TargetTopic> targets_;
  std::map<std::pair<std::string, std::string>, uint64_t> counts_;  // By name and reason.
  std::set<Refusal> told_;  // Refusals that the log has an example of.
};

}  // namespace bloomring
