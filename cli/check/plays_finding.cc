#include "cli/check/plays_finding.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/words.h"
#include "operators/refusal_watch.h"
#include "schemas/json/json_fields.h"

namespace bloomring {
namespace {

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
  std::string text = " (fields there: ";
  for (size_t i = 0; i < std::min(paths.size(), kNamesShown); ++i) text += (i == 0 ? "" : ", ") + paths[i];
  return text + (paths.size() > kNamesShown ? ", ...)" : ")");
}

// The advice for a refusal: correct the mapping, or correct the producer's records.
std::string way_out(Refusal reason, const std::string& key) {
  switch (reason) {
    case Refusal::kUnknownEvent: return "name it in events.kinds, or give events.kinds a \"*\"";
    case Refusal::kUnknownScene: return "name it in events.scenes, or correct the producer";
    case Refusal::kTimeTooEarly:
    case Refusal::kTimeAhead: return "correct events.time_unit or events.time, or the producer";
    case Refusal::kTooLarge: return "raise events.record_bytes_max, or correct the producer";
    default: break;
  }
  if (reason == Refusal::kMissingField && key == "events.event")
    return "correct events.event, or give records without it a kind in events.kinds, as \"\": play or \"\": ignore";
  return key.empty() ? "correct the producer" : "correct " + key + ", or the producer";
}

// The outcomes of the records of a topic.
class Tally {
 public:
  Tally(const std::string& topic, const EventSettings& events)
      : events_(events), parser_(events.mapping()), optional_({events.scene, events.event}) {
    counts_.topic = topic;
  }

  void take(const NewestPlay& record, int64_t now_ms) {
    ++counts_.read;
    Play play;
    const Refusal refusal = parser_.parse(record.value, now_ms, play);
    note_fields(record.value);
    if (refusal != Refusal::kNone) return refuse(record, refusal);
    switch (play.skip) {
      case Skip::kIgnoredKind: ++counts_.ignored_kind; return;
      case Skip::kShortView: ++counts_.short_view; return;
      case Skip::kNone: break;
    }
    ++(play.kind == EventKind::kPlay ? counts_.plays : counts_.serves_and_forgets);
    scenes_.emplace(play.scene);
  }

  PlaysFinding finding(double refused_share_max) const {
    PlaysFinding finding{counts_, {}, {}};
    std::vector<std::string>& refusals = too_many(refused_share_max) ? finding.errors : finding.warnings;
    for (const auto& [reason, example] : reasons_) refusals.push_back(said(reason.first, reason.second, example));
    if (counts_.ignored_kind + counts_.short_view == counts_.read) {
      finding.warnings.push_back(start() + "all would be skipped, by events.kinds, events.view_share_min or "
                                           "events.view_ms_min; correct them unless nobody has played anything");
    }
    warn_of_absent_fields(finding);
    warn_of_scenes(finding);
    return finding;
  }

 private:
  struct Example {
    uint64_t records = 0;
    std::string place;
    std::string detail;
    std::string fields;
  };

  bool too_many(double share_max) const {
    if (counts_.refused == counts_.read) return true;
    const double share = static_cast<double>(counts_.refused) / static_cast<double>(counts_.read);
    return counts_.read >= RefusalWatch::kRecordsMin && share > share_max;
  }
  void refuse(const NewestPlay& record, Refusal refusal) {
    ++counts_.refused;
    Example& example = reasons_[{refusal, std::string(parser_.key())}];
    if (example.records++ > 0) return;
    example.place = "partition " + std::to_string(record.partition.value) + ", offset " +
                    std::to_string(record.offset.value);
    example.detail = parser_.detail();
    example.fields = fields_there(record.value);
  }
  void note_fields(const std::string& record) {
    if (optional_.read(record) != JsonOutcome::kObject) return;
    for (size_t i = 0; i < found_.size(); ++i) found_[i] += optional_.fields()[i].type != JsonField::Type::kAbsent;
  }
  std::string start() const {
    return "topic " + counts_.topic + ": of the newest " + std::to_string(counts_.read) + " records ";
  }
  std::string said(Refusal reason, const std::string& key, const Example& example) const {
    return start() + std::to_string(counts_.plays + counts_.serves_and_forgets) + " would be accepted and " +
           std::to_string(example.records) + " refused as " + std::string(refusal_name(reason)) + ", the first at " +
           example.place + ": " + example.detail + example.fields + "; " + way_out(reason, key);
  }
  // Warns of optional fields that the site has named and no record has.
  void warn_of_absent_fields(PlaysFinding& finding) const {
    const auto warn = [&](const char* key, const std::string& name, uint64_t found) {
      if (name.empty() || found > 0) return;
      finding.warnings.push_back(std::string(key) + " is " + name + ": none of the newest " +
                                 std::to_string(counts_.read) + " records of topic " + counts_.topic +
                                 " has such a field; correct it, or set it to \"\"");
    };
    const EventSettings usual;
    if (events_.scene != usual.scene) warn("events.scene", events_.scene, found_[0]);
    // If the field is required, its lack is a refusal.
    const bool optional = events_.kinds.empty() || events_.kinds.contains("");
    if (optional && (events_.event != usual.event || !events_.kinds.empty()))
      warn("events.event", events_.event, found_[1]);
  }
  void warn_of_scenes(PlaysFinding& finding) const {
    const bool any = std::ranges::any_of(scenes_, [](const std::string& scene) { return !scene.empty(); });
    if (!any || !events_.scenes.empty()) return;
    finding.warnings.push_back("events.scene is " + events_.scene + ": the newest records of topic " + counts_.topic +
                               " are of the scenes " + joined_names(scenes_) +
                               ", whose filters never mix, and each query must name its scene; set events.scene to "
                               "\"\" if an item that was played anywhere counts as seen everywhere, or declare the "
                               "scenes in events.scenes");
  }

  const EventSettings events_;
  PlayParser parser_;
  JsonFields optional_;
  std::array<uint64_t, 2> found_{};
  std::map<std::pair<Refusal, std::string>, Example> reasons_;  // By reason and key.
  std::set<std::string> scenes_;
  PlaysRead counts_;
};

}  // namespace

std::string to_string(const PlaysRead& read) {
  const std::string topic = "topic " + read.topic + ": ";
  if (read.read == 0) return topic + "nothing was read, it is empty";
  return topic + std::to_string(read.read) + " read, of which " + std::to_string(read.plays) + " are plays, " +
         std::to_string(read.serves_and_forgets) + " serves or forgets, " + std::to_string(read.ignored_kind) +
         " of ignored kinds, " + std::to_string(read.short_view) + " short views, " + std::to_string(read.refused) +
         " refused";
}

PlaysFinding judge_plays(const std::string& topic, std::span<const NewestPlay> plays, const EventSettings& events,
                         double refused_share_max, int64_t now_ms) {
  if (plays.empty()) return {PlaysRead{.topic = topic}, {}, {}};
  Tally tally(topic, events);
  for (const NewestPlay& play : plays) tally.take(play, now_ms);
  return tally.finding(refused_share_max);
}

}  // namespace bloomring
