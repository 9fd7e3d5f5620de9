#include "pipeline/stages/serve/scene_watch.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/words.h"

namespace bloomring {

namespace {
constexpr int64_t kIntervalNs = 600'000'000'000;

// The stored scenes that the site does not declare.
std::set<std::string> other_scenes(std::set<std::string> stored, const SceneRules& rules) {
  const std::vector<std::string> named = rules.part_filters ? rules.declared : std::vector<std::string>{""};
  if (named.empty()) return {};
  for (const std::string& scene : named) stored.erase(scene);
  return stored;
}

void warn_of_others(std::string_view stage, const std::set<std::string>& others, const SceneRules& rules) {
  const std::string why =
      rules.part_filters
          ? "events.scenes lacks scenes of which the filter store has plays. Queries about all scenes read them, "
            "too; add a scene to query it alone"
          : "events.scene is \"\", and the filter store has plays of scenes: no query finds these. Set events.scene "
            "to its earlier field, or replay the plays";
  log_warning("serve: " + why, {{"stage", stage}, {"scenes", joined_names(others)}});
}
}  // namespace

SceneWatch::SceneWatch(std::string stage, const SceneRules& rules, const Clock& clock)
    : stage_(std::move(stage)), rules_(rules), clock_(clock), known_(rules) {}

void SceneWatch::expect() {
  known_.expect_stored();
  overtaken_ = true;
}

void SceneWatch::tend(const FilterReader& reader, bool placed) {
  const bool due = !known_.stored_noted() || clock_.steady_ns() >= read_at_ns_;
  if (!read_ && due && placed) begin(reader);
  if (!read_) return;
  std::optional<Result<std::set<std::string>>> ended;
  {
    const std::lock_guard lock(read_->mutex);
    ended.swap(read_->ended);
  }
  if (!ended) return;  // A large store takes its time.
  read_.reset();
  if (ended->ok() && !overtaken_) take(**ended);
}

void SceneWatch::begin(const FilterReader& reader) {
  overtaken_ = false;
  read_ = std::make_shared<Read>();
  reader.begin_scenes([read = read_](Result<std::set<std::string>> scenes) {
    const std::lock_guard lock(read->mutex);
    read->ended = std::move(scenes);
  });
}

void SceneWatch::take(const std::set<std::string>& stored) {
  read_at_ns_ = clock_.steady_ns() + kIntervalNs;
  known_.note_stored(stored);
  if (auto others = other_scenes(stored, rules_); others != others_told_) {
    if (!others.empty()) warn_of_others(stage_, others, rules_);
    others_told_ = std::move(others);
  }
}

}  // namespace bloomring
