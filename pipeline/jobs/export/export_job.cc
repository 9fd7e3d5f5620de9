#include "pipeline/jobs/export/export_job.h"

#include <algorithm>
#include <optional>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/words.h"
#include "pipeline/jobs/job_record.h"

namespace bloomring {

Result<std::unique_ptr<ExportJob>> ExportJob::create(ExportConfig config, ExportSurroundings around) {
  BLOOMRING_TRY_ASSIGN(ReplayBound from, parse_bound("--from", config.from));
  BLOOMRING_TRY_ASSIGN(ExportEnd end, parse_export_end(config.until));
  return std::unique_ptr<ExportJob>(new ExportJob(std::move(config), around, std::move(from), std::move(end)));
}

ExportJob::ExportJob(ExportConfig config, ExportSurroundings around, ReplayBound from, ExportEnd end)
    : config_(std::move(config)),
      around_(around),
      from_(std::move(from)),
      end_(std::move(end)),
      parser_(config_.mapping),
      changes_(around.client, config_.bounds) {}

JobParameters ExportJob::parameters() const {
  JobParameters parameters = {{"brokers", config_.brokers},
                              {"topics", joined(config_.topics)},
                              {"from", config_.from},
                              {"until", config_.until}};
  parameters.insert(parameters.end(), config_.parameters.begin(), config_.parameters.end());
  return parameters;
}

Result<ExportParts> ExportJob::find_parts() {
  BLOOMRING_TRY_ASSIGN(const auto partitions, around_.log.partitions(config_.topics));
  BLOOMRING_TRY_ASSIGN(const auto edges, around_.log.edges(partitions, from_, end_.bound));
  ExportParts parts;
  for (size_t i = 0; i < partitions.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(ExportPart part, first_part(partitions[i], edges[i], from_, end_));
    parts.push_back(std::move(part));
  }
  if (encode_export(parts).size() > kJobPositionBytesMax / 2)
    return invalid("the topics have too many partitions for one export; name fewer topics with --topic");
  return parts;
}

Result<JobPlan> ExportJob::plan() {
  BLOOMRING_TRY_ASSIGN(const ExportParts parts, find_parts());
  BLOOMRING_TRY_ASSIGN(const auto partitions, around_.log.partitions(config_.topics));
  BLOOMRING_TRY_ASSIGN(const auto edges, around_.log.edges(partitions, {}, {}));
  JobPlan plan;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t records = parts[i].until.value_or(edges[i].end).value - parts[i].next.value;
    plan.total += static_cast<uint64_t>(std::max<int64_t>(records, 0));
  }
  plan.facts = config_.facts;
  plan.facts.push_back({"topics", joined(config_.topics) + ", " + std::to_string(parts.size()) + " partitions"});
  plan.facts.push_back({"brokers", config_.brokers});
  plan.facts.push_back({"end", end_.follows ? "none: it follows the topics until it is stopped"
                                            : "that of the topics at the first start, or --until"});
  plan.touches = {"adds members to sets of the old store, and raises their scores",
                  "removes members that users forget, at or after the time of their scores"};
  if (config_.bounds.members_max > 0)
    plan.touches.push_back("removes all but the newest " + std::to_string(config_.bounds.members_max) +
                           " members of each set that gets a play");
  if (config_.bounds.ttl_seconds > 0)
    plan.touches.push_back("lets each set that gets a play expire after " + std::to_string(config_.bounds.ttl_seconds) +
                           " s");
  return plan;
}

Status ExportJob::begin(const JobStart& start) {
  for (const JobCount& count : start.counts) counts_[{count.name, count.reason}] = count.value;
  if (start.position.empty()) {
    BLOOMRING_TRY_ASSIGN(parts_, find_parts());
  } else {
    BLOOMRING_TRY_ASSIGN(parts_, decode_export(start.position));
    BLOOMRING_TRY(check_parts());
    if (end_.follows) BLOOMRING_TRY(take_new_partitions());
  }
  return open_parts();
}

Status ExportJob::check_parts() {
  std::vector<kafka::TopicPartition> partitions;
  for (const ExportPart& part : parts_) partitions.push_back(part.at);
  BLOOMRING_TRY_ASSIGN(const auto edges, around_.log.edges(partitions, {}, {}));
  for (size_t i = 0; i < parts_.size(); ++i) BLOOMRING_TRY(check_followed(parts_[i], edges[i]));
  return {};
}

// Partitions that were made after the first start. Closes the inputs when there are some.
Status ExportJob::take_new_partitions() {
  BLOOMRING_TRY_ASSIGN(auto partitions, around_.log.partitions(config_.topics));
  std::erase_if(partitions, [this](const kafka::TopicPartition& at) {
    return std::ranges::find(parts_, at, &ExportPart::at) != parts_.end();
  });
  if (partitions.empty()) return {};
  BLOOMRING_TRY_ASSIGN(const auto edges, around_.log.edges(partitions, {}, {}));
  inputs_.clear();
  for (size_t i = 0; i < partitions.size(); ++i) parts_.push_back({partitions[i], edges[i].start, edges[i].start});
  log_info("the export also follows partitions that are new", {{"partitions", partitions.size()}});
  return {};
}

Status ExportJob::open_parts() {
  inputs_.clear();
  std::vector<ReplayLog::Start> starts;
  for (const ExportPart& part : parts_)
    if (!part.ended()) starts.push_back({part.at, part.next});
  BLOOMRING_TRY_ASSIGN(auto sources, around_.log.open(starts));
  size_t i = 0;
  for (ExportPart& part : parts_)
    if (!part.ended()) inputs_.push_back({part, std::move(sources[i++])});
  return {};
}

bool ExportJob::ended() const { return std::ranges::all_of(parts_, &ExportPart::ended); }

Result<JobStep> ExportJob::step(uint64_t units_max, int64_t now_ms) {
  BLOOMRING_TRY(around_.log.poll());
  BLOOMRING_TRY(write());
  if (ended()) return JobStep{0, true};
  if (units_max == 0) return JobStep{};
  if (end_.follows && now_ms >= look_at_ms_) {
    look_at_ms_ = now_ms + kLookForPartitionsMs;
    BLOOMRING_TRY(take_new_partitions());
  }
  if (inputs_.empty()) BLOOMRING_TRY(open_parts());
  BLOOMRING_TRY_ASSIGN(const uint64_t records, read(std::min(units_max, kBatchRecords), now_ms));
  if (records > 0) fault_point("export.read");
  const Status written = write();
  // The job gathers what it reads: it counts against the rate now, and is written by the next step.
  if (!written.ok() && written.code() != Code::kRetry) return Status(written);
  return JobStep{records, written.ok() && ended()};
}

Result<uint64_t> ExportJob::read(uint64_t records_max, int64_t now_ms) {
  uint64_t records = 0;
  for (size_t i = 0; i < inputs_.size() && records < records_max; ++i) {
    Input& input = inputs_[(first_input_ + i) % inputs_.size()];
    BLOOMRING_TRY_ASSIGN(const uint64_t read, read_input(input, records_max - records, now_ms));
    records += read;
  }
  ++first_input_;
  return records;
}

Result<uint64_t> ExportJob::read_input(Input& input, uint64_t records_max, int64_t now_ms) {
  uint64_t records = 0;
  while (records < records_max && !(input.part.until && input.source->position() >= *input.part.until)) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, input.source->poll());
    if (!record || (input.part.until && record->offset >= *input.part.until)) break;
    take(input.part, *record, now_ms);
    ++records;
  }
  return records;
}

void ExportJob::refuse(const ExportPart& part, const LogRecord& record, std::string_view reason,
                       const std::string& detail) {
  ++counts_[{"refused", std::string(reason)}];
  around_.refused.add({{"topic", part.at.topic},
                       {"partition", std::to_string(part.at.partition.value)},
                       {"offset", std::to_string(record.offset.value)},
                       {"reason", std::string(reason)},
                       {"detail", detail}});
}

void ExportJob::take(const ExportPart& part, const LogRecord& record, int64_t now_ms) {
  const bool dated = record.log_time_ms >= kEventTimeMinMs && record.log_time_ms <= now_ms;
  const IngestTime judge = IngestTime::at(dated ? record.log_time_ms : now_ms);
  Play play;
  const Refusal refusal = parser_.parse(record.value, judge.latest_ms, play);
  if (refusal != Refusal::kNone) {
    refuse(part, record, refusal_name(refusal), parser_.detail());
  } else if (play.skip != Skip::kNone) {
    ++counts_[{"left_out", std::string(skip_name(play.skip))}];
  } else if (play.kind == EventKind::kServe) {
    ++counts_[{"left_out", "serve"}];
  } else {
    take_event(play, event_time_ms(play, judge), part, record);
  }
}

void ExportJob::take_event(const Play& play, int64_t time_ms, const ExportPart& part, const LogRecord& record) {
  const LegacyLayout& layout = around_.layout;
  const std::vector<std::string> keys = layout.keys_of(play.scene, play.user);
  if (keys.empty()) {
    refuse(part, record, "no_key", "migrate.keys has no pattern for the scene '" + std::string(play.scene) + "'");
    return;
  }
  const UserKey user(play.scene, play.user);
  const uint64_t hash = user_hash(user.bytes());
  const bool of_item = play.kind != EventKind::kForgetAll;
  const Event event{play.kind, of_item ? item_hash(play.item) : ItemHash(0), time_ms};
  if (play.kind == EventKind::kPlay) {
    if (forgets_.takes(hash, event)) {
      ++counts_[{"left_out", "forgotten"}];
      return;
    }
    changes_.play(keys.front(), layout.member_of(play.item), layout.score_of(time_ms));
    ++plays_;
    return;
  }
  forgets_.note(hash, event);
  ++forgets_taken_;
  for (const std::string& key : keys) {
    if (of_item) {
      changes_.forget(key, layout.member_of(play.item), layout.score_after(time_ms));
    } else {
      changes_.forget_all(key, layout.score_after(time_ms));
    }
  }
}

// Everything that was read is in the old store afterwards, and the position behind it.
Status ExportJob::write() {
  if (!changes_.empty()) {
    uint64_t foreign = 0;
    BLOOMRING_TRY(changes_.write([&](const std::string& key, uint64_t changes) {
      foreign += changes;
      around_.refused.add({{"key", key}, {"reason", std::string(legacy_refusal_name(LegacyRefusal::kWrongType))}});
    }));
    if (foreign > 0) counts_[{"refused", std::string(legacy_refusal_name(LegacyRefusal::kWrongType))}] += foreign;
    fault_point("export.written");
  }
  BLOOMRING_TRY(around_.refused.flush());
  if (plays_ > 0) counts_[{"plays", ""}] += std::exchange(plays_, 0);
  if (forgets_taken_ > 0) counts_[{"forgets", ""}] += std::exchange(forgets_taken_, 0);
  for (Input& input : inputs_) {
    Offset read = std::max(input.part.next, input.source->position());
    if (input.part.until) read = std::min(read, *input.part.until);
    input.part.next = read;
  }
  return {};
}

Result<bool> ExportJob::settle(int64_t) {
  BLOOMRING_TRY(write());
  return true;
}

JobProgress ExportJob::progress() const {
  JobProgress progress;
  for (const ExportPart& part : parts_) {
    progress.done += static_cast<uint64_t>(part.next.value - part.from.value);
    if (part.until) progress.total += static_cast<uint64_t>(std::max(part.next, *part.until).value - part.from.value);
  }
  if (!end_.follows) return progress;
  for (const Input& input : inputs_) {
    const Offset end = std::max(input.part.next, input.source->log_end());
    progress.total += static_cast<uint64_t>(end.value - input.part.from.value);
  }
  return progress;
}

JobCounts ExportJob::counts() const {
  JobCounts counts;
  for (const auto& [of, value] : counts_) counts.push_back({of.first, of.second, value});
  return counts;
}

bool ExportJob::differences() const {
  return std::ranges::any_of(counts_, [](const auto& count) { return count.first.first == "refused"; });
}

}  // namespace bloomring
