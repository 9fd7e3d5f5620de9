#include "pipeline/cli/check_plays.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "pipeline/topic_check.h"
#include "schemas/json_fields.h"

namespace bloomring::cli {
namespace {

constexpr size_t kPlaysLooked = 100;
constexpr int64_t kReadBoundMs = 10'000;
constexpr size_t kNamesShown = 20;

// "user.id, user.name, item": the fields of a record, those of objects by their paths.
void add_paths(const nlohmann::ordered_json& object, const std::string& prefix, int depth_left,
               std::vector<std::string>& paths) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object() && !value.empty() && depth_left > 0) {
      add_paths(value, prefix + name + ".", depth_left - 1, paths);
    } else {
      paths.push_back(prefix + name);
    }
  }
}

std::string fields_there(const std::string& record) {
  const auto json = nlohmann::ordered_json::parse(record, nullptr, false);
  if (!json.is_object()) return "";
  std::vector<std::string> paths;
  add_paths(json, "", 2, paths);
  std::string text = "; fields there: ";
  for (size_t i = 0; i < std::min(paths.size(), kNamesShown); ++i) text += (i == 0 ? "" : ", ") + paths[i];
  return text + (paths.size() > kNamesShown ? ", ..." : "");
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + (word.empty() ? "\"\"" : word);
  return text;
}

// What has come of the records of a topic.
class Tally {
 public:
  Tally(const std::string& topic, const EventSettings& events)
      : topic_(topic), events_(events), parser_(events.mapping()), optional_({events.scene, events.event}) {}

  void take(const NewestPlay& record, int64_t now_ms) {
    ++read_;
    Play play;
    const Refusal refusal = parser_.parse(record.value, now_ms, play);
    note_fields(record.value);
    if (refusal != Refusal::kNone) return refuse(record, refusal);
    if (play.skip != Skip::kNone) return static_cast<void>(++skipped_);
    ++accepted_;
    scenes_.emplace(play.scene);
  }

  PlaysVerdict verdict() const {
    PlaysVerdict verdict;
    const uint64_t refused = read_ - accepted_ - skipped_;
    const bool none = accepted_ == 0 && skipped_ == 0;
    for (const auto& [reason, example] : reasons_) (none ? verdict.errors : verdict.warnings).push_back(said(example));
    if (accepted_ == 0 && refused == 0) {
      verdict.warnings.push_back(start() + "all would be skipped, by events.kinds, events.view_share_min or "
                                           "events.view_ms_min; correct them unless nobody has played anything");
    }
    tell_absent(verdict);
    tell_scenes(verdict);
    return verdict;
  }

 private:
  struct Example {
    uint64_t records = 0;
    Refusal reason = Refusal::kNone;
    std::string place;
    std::string detail;
    std::string fields;
  };

  void refuse(const NewestPlay& record, Refusal refusal) {
    Example& example = reasons_[refusal];
    if (example.records++ > 0) return;
    example.reason = refusal;
    example.place = "partition " + std::to_string(record.partition.value) + ", offset " +
                    std::to_string(record.offset.value);
    example.detail = parser_.detail();
    example.fields = fields_there(record.value);
  }
  void note_fields(const std::string& record) {
    if (optional_.read(record) != JsonVerdict::kObject) return;
    for (size_t i = 0; i < found_.size(); ++i) found_[i] += optional_.fields()[i].type != JsonField::Type::kAbsent;
  }
  std::string start() const { return "topic " + topic_ + ": of the newest " + std::to_string(read_) + " records "; }
  std::string said(const Example& example) const {
    return start() + std::to_string(accepted_) + " would be accepted and " + std::to_string(example.records) +
           " refused as " + std::string(refusal_name(example.reason)) + ", the first at " + example.place + ": " +
           example.detail + example.fields;
  }
  // Fields that need not be there, which the site has named and which never are.
  void tell_absent(PlaysVerdict& verdict) const {
    const EventSettings usual;
    const auto tell = [&](const char* key, const std::string& name, const std::string& usual_name, uint64_t found) {
      if (name.empty() || name == usual_name || found > 0) return;
      verdict.warnings.push_back(std::string(key) + " is " + name + ": none of the newest " + std::to_string(read_) +
                                 " records of topic " + topic_ + " has such a field; correct it, or set it to \"\"");
    };
    tell("events.scene", events_.scene, usual.scene, found_[0]);
    tell("events.event", events_.event, usual.event, found_[1]);
  }
  void tell_scenes(PlaysVerdict& verdict) const {
    const bool any = std::ranges::any_of(scenes_, [](const std::string& scene) { return !scene.empty(); });
    if (!any || !events_.scenes.empty()) return;
    verdict.warnings.push_back("events.scene is " + events_.scene + ": the newest records of topic " + topic_ +
                               " are of the scenes " + joined(scenes_) +
                               ", whose filters never mix, and each query must name its scene; set events.scene to \"\""
                               " where an item that was played anywhere is to be seen everywhere, or declare the "
                               "scenes in events.scenes");
  }

  const std::string topic_;
  const EventSettings events_;
  PlayParser parser_;
  JsonFields optional_;
  std::array<uint64_t, 2> found_{};
  std::map<Refusal, Example> reasons_;
  std::set<std::string> scenes_;
  uint64_t read_ = 0, accepted_ = 0, skipped_ = 0;
};

}  // namespace

PlaysVerdict judge_plays(const std::string& topic, std::span<const NewestPlay> plays, const EventSettings& events,
                         int64_t now_ms) {
  if (plays.empty()) return {};
  Tally tally(topic, events);
  for (const NewestPlay& play : plays) tally.take(play, now_ms);
  return tally.verdict();
}

void check_plays(kafka::Admin& admin, const Settings& settings, CheckReport& report) {
  const auto topics = admin.describe(settings.topics.plays);
  if (!report.succeeds(topics.status())) return;
  const SystemClock clock;
  kafka::ClientSettings kafka = client_settings(settings);
  kafka.queue_memory_bytes = size_t{32} << 20;
  std::string errors;
  for (const kafka::TopicDescription& topic : *topics) {
    if (!topic.exists) continue;
    const auto plays = newest_plays(kafka, topic.name, static_cast<uint32_t>(topic.partitions), kPlaysLooked,
                                    kReadBoundMs, clock);
    if (!report.succeeds(plays.status().with_context("topic " + topic.name))) continue;
    const PlaysVerdict verdict = judge_plays(topic.name, *plays, settings.events, clock.now_ms());
    report.warnings.insert(report.warnings.end(), verdict.warnings.begin(), verdict.warnings.end());
    for (const std::string& error : verdict.errors) errors += (errors.empty() ? "" : "\n") + error;
  }
  report.passes("plays", errors.empty() ? Status() : invalid(errors));
}

}  // namespace bloomring::cli
