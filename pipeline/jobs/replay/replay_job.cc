#include "pipeline/jobs/replay/replay_job.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/words.h"
#include "pipeline/jobs/job_record.h"

namespace bloomring {

namespace {

// Every setting that changes what a record becomes.
std::string text_of(const PlayMapping& mapping) {
  std::string text;
  const auto add = [&](const std::string& word) { text += std::to_string(word.size()) + ":" + word + ";"; };
  for (const std::string* field : {&mapping.user, &mapping.item, &mapping.time, &mapping.scene, &mapping.event,
                                   &mapping.view.watched, &mapping.view.duration})
    add(*field);
  add(std::to_string(units_per_second(mapping.time_unit)));
  add(std::to_string(units_per_second(mapping.view.unit)));
  add(std::to_string(mapping.view.share_min));
  add(std::to_string(mapping.view.ms_min));
  add(std::to_string(mapping.record_bytes_max));
  add(mapping.forgets ? "forgets" : "");
  for (const auto& [word, kind] : mapping.kinds)
    add(word + "=" + (kind ? std::to_string(static_cast<int>(*kind)) : ""));
  for (const std::string& scene : mapping.scenes) add(scene);
  return text;
}

std::string hex(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

IngestTaskConfig of_history(IngestTaskConfig config) {
  // A partition that takes nothing stops the replay: there is no hurry, and nothing is passed over.
  config.lane_patience_ms = INT64_MAX / 2;
  config.history = true;
  config.stage = "replay";
  return config;
}

}  // namespace

Result<std::unique_ptr<ReplayJob>> ReplayJob::create(ReplayJobConfig config, ReplayLog& log, std::unique_ptr<Sink> sink,
                                                     const Calendar& calendar, const Clock& clock) {
  BLOOMRING_TRY(parse_bound("--from", config.from).status());
  BLOOMRING_TRY(parse_bound("--until", config.until).status());
  for (auto topic = config.topics.begin(); topic != config.topics.end(); ++topic) {
    if (topic->empty()) return invalid("--topic " + joined(config.topics) + ": a name is empty");
    if (std::find(config.topics.begin(), topic, *topic) != topic)
      return invalid("--topic " + joined(config.topics) + ": " + *topic + " is there twice");
  }
  return std::unique_ptr<ReplayJob>(new ReplayJob(std::move(config), log, std::move(sink), calendar, clock));
}

ReplayJob::ReplayJob(ReplayJobConfig config, ReplayLog& log, std::unique_ptr<Sink> sink, const Calendar& calendar,
                     const Clock& clock)
    : config_(std::move(config)),
      from_(*parse_bound("--from", config_.from)),
      until_(*parse_bound("--until", config_.until)),
      log_(log),
      calendar_(calendar),
      clock_(clock),
      sink_(std::move(sink)) {}

ReplayJob::~ReplayJob() = default;

JobParameters ReplayJob::parameters() const {
  return {{"brokers", config_.brokers},
          {"topics", joined(config_.topics)},
          {"form", reads_blocks() ? "blocks" : "json"},
          {"partitions", reads_blocks() ? std::to_string(config_.ingest.block_partitions) : ""},
          {"from", config_.from},
          {"until", config_.until},
          {"mapping", reads_blocks() ? "" : hex(hash_bytes(text_of(config_.ingest.ingest.mapping), 0))},
          {"into", config_.ingest.events_topic}};
}

Result<ReplayParts> ReplayJob::find_parts() {
  BLOOMRING_TRY_ASSIGN(const auto partitions, log_.partitions(config_.topics));
  if (reads_blocks() && partitions.size() != config_.ingest.block_partitions) {
    return invalid(config_.topics.front() + " has " + std::to_string(partitions.size()) +
                   " partitions, topics.partitions of its installation says " +
                   std::to_string(config_.ingest.block_partitions) +
                   ": name the configuration of that installation with --source-config");
  }
  BLOOMRING_TRY_ASSIGN(const auto edges, log_.edges(partitions, from_, until_));
  for (const auto& [number, offset] : from_.offsets.empty() ? until_.offsets : from_.offsets) {
    const auto is_it = [n = number](const auto& at) { return at.partition.value == n; };
    if (std::ranges::none_of(partitions, is_it))
      return invalid(config_.topics.front() + " has no partition " + std::to_string(number));
  }
  ReplayParts parts;
  for (size_t i = 0; i < partitions.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(auto part, part_of(partitions[i], edges[i], from_, until_));
    if (part) parts.push_back(std::move(*part));
    if (!part && scans_only(partitions[i])) parts.push_back(scanned_part(partitions[i], edges[i]));
  }
  if (encode_parts(parts).size() > kJobPositionBytesMax)
    return invalid("the topics have too many partitions for one replay; replay fewer topics at a time");
  return parts;
}

// A partition without an offset is not replayed, but a site may put a user's forgets into any.
bool ReplayJob::scans_only(const kafka::TopicPartition& at) const {
  const auto leaves_out = [&](const ReplayBound& bound) {
    return !bound.offsets.empty() && !bound.offsets.contains(at.partition.value);
  };
  return may_have_forgets() && !reads_blocks() && (leaves_out(from_) || leaves_out(until_));
}

Result<JobPlan> ReplayJob::plan() {
  BLOOMRING_TRY_ASSIGN(const ReplayParts parts, find_parts());
  JobPlan plan;
  std::map<std::string, ReplayParts> by_topic;
  for (const std::string& topic : config_.topics) by_topic[topic];
  for (const ReplayPart& part : parts) by_topic[part.at.topic].push_back(part);
  const auto not_empty = [](const ReplayPart& part) { return part.from < part.until; };
  for (const auto& [topic, of_topic] : by_topic) {
    const uint64_t records = progress_of(of_topic).total;
    plan.total += records;
    const auto partitions = std::ranges::count_if(of_topic, not_empty);
    plan.facts.push_back({"topic " + topic, std::to_string(records) + " " + std::string(unit()) + " of " +
                                                std::to_string(partitions) + " partitions"});
    if (records == 0) plan.warnings.push_back("topic " + topic + " has nothing in the range");
  }
  plan.facts.push_back({"brokers", config_.brokers});
  if (may_have_forgets() || until_.time_ms) {
    uint64_t scanned = 0;
    for (const ReplayPart& part : parts) scanned += static_cast<uint64_t>(part.scan_to.value - part.from.value);
    plan.facts.push_back({"first", "reads " + std::to_string(scanned) + " " + std::string(unit()) +
                                       " for their forgets and times, ten times as fast"});
  }
  plan.touches = {"writes plays and forgets into " + config_.ingest.events_topic +
                      ", where all stages take them as live ones",
                  "writes refused records into " + config_.ingest.dead_topic};
  return plan;
}

Status ReplayJob::begin(const JobStart& start) {
  before_ = start.counts;
  if (start.position.empty()) {
    BLOOMRING_TRY_ASSIGN(parts_, find_parts());
    fault_point("replay.range_fixed");
  } else {
    BLOOMRING_TRY_ASSIGN(parts_, decode_parts(start.position));
    BLOOMRING_TRY(check_parts());
  }
  return may_have_forgets() || until_.time_ms ? begin_scan() : begin_write();
}

Status ReplayJob::check_parts() {
  std::vector<kafka::TopicPartition> partitions;
  for (const ReplayPart& part : parts_) partitions.push_back(part.at);
  BLOOMRING_TRY_ASSIGN(const auto edges, log_.edges(partitions, {}, {}));
  for (size_t i = 0; i < parts_.size(); ++i) BLOOMRING_TRY(check_still_there(parts_[i], edges[i]));
  return {};
}

// From what the log still has: a later start may find less than the first one.
Status ReplayJob::begin_scan() {
  pass_ = Pass::kScan;
  scan_ = std::make_unique<ForgetScan>(config_.ingest.ingest.mapping, config_.ingest.form,
                                       config_.ingest.block_partitions, forgets_, until_.time_ms);
  std::vector<kafka::TopicPartition> partitions;
  for (const ReplayPart& part : parts_) partitions.push_back(part.at);
  BLOOMRING_TRY_ASSIGN(const auto edges, log_.edges(partitions, {}, {}));
  std::vector<ReplayLog::Start> starts;
  std::vector<ReplayPart*> read;
  std::vector<Offset> ends;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Offset from = std::max(parts_[i].from, edges[i].start), to = std::min(parts_[i].scan_to, edges[i].end);
    if (from >= to) continue;
    starts.push_back({parts_[i].at, from});
    read.push_back(&parts_[i]);
    ends.push_back(to);
  }
  BLOOMRING_TRY_ASSIGN(auto sources, log_.open(starts));
  for (size_t i = 0; i < starts.size(); ++i)
    scan_->add_source(*read[i], ends[i], std::move(sources[i]));
  log_info("the replay reads the forgets of the log first", {{"partitions", starts.size()}});
  return {};
}

Status ReplayJob::begin_write() {
  pass_ = Pass::kWrite;
  IngestTaskConfig config = of_history(config_.ingest);
  config.ingest.takes = [this](const UserRef& user, const Event& event) { return takes(user, event); };
  task_ = std::make_unique<IngestTask>(std::move(config), clock_, std::move(sink_));
  std::vector<ReplayLog::Start> starts;
  std::vector<ReplayPart*> open;
  for (ReplayPart& part : parts_) {
    if (part.next == part.until) continue;
    starts.push_back({part.at, part.next});
    open.push_back(&part);
  }
  BLOOMRING_TRY_ASSIGN(auto sources, log_.open(starts));
  for (size_t i = 0; i < open.size(); ++i) {
    auto source = std::make_unique<RangeSource>(std::move(sources[i]), *open[i], budget_, reads_blocks() ? 0 : 1);
    sources_.push_back(source.get());
    task_->add_source(open[i]->at.topic, open[i]->at.partition, open[i]->next, std::move(source));
  }
  return {};
}

Result<JobStep> ReplayJob::step(uint64_t units_max, int64_t now_ms) {
  now_ms_ = now_ms;
  BLOOMRING_TRY(log_.poll());
  switch (pass_) {
    case Pass::kScan: return scan(units_max, now_ms);
    case Pass::kWrite: return write(units_max, now_ms);
    case Pass::kDone: return JobStep{0, true};
  }
  return JobStep{0, true};
}

Result<JobStep> ReplayJob::scan(uint64_t units_max, int64_t now_ms) {
  BLOOMRING_TRY_ASSIGN(const uint64_t read, scan_->step(units_max * kScanSpeed, now_ms));
  if (scan_->finish()) {
    forgets_.seal();
    fault_point("replay.scanned");
    log_info("the replay knows the forgets of the log", {{"forgets", forgets_.size()}});
    scan_.reset();
    BLOOMRING_TRY(begin_write());
  }
  return JobStep{(read + kScanSpeed - 1) / kScanSpeed, false};
}

Result<JobStep> ReplayJob::write(uint64_t units_max, int64_t now_ms) {
  if (finishing_ || std::ranges::all_of(sources_, &RangeSource::ended)) {
    BLOOMRING_TRY_ASSIGN(const bool finished, finish_writing(now_ms));
    return JobStep{0, finished};
  }
  budget_.begin(units_max);
  BLOOMRING_TRY(task_->step(now_ms).status());
  return JobStep{budget_.taken, false};
}

// Has everything acknowledged that was read. True when it is.
Result<bool> ReplayJob::finish_writing(int64_t now_ms) {
  if (!finishing_) task_->begin_release();
  finishing_ = true;
  BLOOMRING_TRY(task_->step(now_ms).status());
  if (!task_->released()) return false;
  sources_.clear();
  task_->drop_sources(/*lost=*/false);
  pass_ = Pass::kDone;
  return true;
}

Result<bool> ReplayJob::settle(int64_t now_ms) {
  if (pass_ != Pass::kWrite) return true;
  BLOOMRING_TRY(log_.poll());
  return finish_writing(now_ms);
}

bool ReplayJob::takes(const UserRef& user, const Event& event) {
  if (reads_blocks()) budget_.take(1);
  if (event.kind == EventKind::kServe) {
    ++left_out_.serves;
    return false;
  }
  // A forget has a meaning for as long as filters of its period are kept, as a play.
  if (!calendar_.kept(user.hash, calendar_.period_of_ms(event.time_ms), now_ms_)) {
    ++left_out_.expired;
    return false;
  }
  if (event.kind == EventKind::kPlay && forgets_.takes(user.hash, event)) {
    ++left_out_.forgotten;
    return false;
  }
  return true;
}

JobProgress ReplayJob::progress() const {
  const ReplayProgress progress = progress_of(parts_);
  return {progress.done, progress.total};
}

JobCounts ReplayJob::counts() const {
  JobCounts counts = before_;
  const auto add = [&](std::string_view name, std::string_view reason, uint64_t value) {
    const auto found = std::ranges::find_if(
        counts, [&](const JobCount& count) { return count.name == name && count.reason == reason; });
    if (found != counts.end()) {
      found->value += value;
    } else if (value > 0) {
      counts.push_back({std::string(name), std::string(reason), value});
    }
  };
  if (!task_) return counts;
  const IngestStats& stats = task_->ingest().stats();
  add("written", "", stats.accepted);
  add("left_out", "expired", left_out_.expired);
  add("left_out", "forgotten", left_out_.forgotten);
  add("left_out", "serve", left_out_.serves);
  add("left_out", "repeat", stats.repeats);
  for (size_t i = 1; i < kSkipCount; ++i) add("left_out", skip_name(static_cast<Skip>(i)), stats.skipped[i]);
  for (size_t i = 1; i < kRefusalCount; ++i) add("refused", refusal_name(static_cast<Refusal>(i)), stats.refused[i]);
  return counts;
}

bool ReplayJob::differences() const {
  const auto is_refused = [](const JobCount& count) { return count.name == "refused" && count.value > 0; };
  return std::ranges::any_of(counts(), is_refused);
}

}  // namespace bloomring
