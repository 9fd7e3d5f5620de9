#include "serving/query/known_scenes.h"

namespace bloomring {

namespace {

const std::string kTooMany =
    "there are more than " + std::to_string(kScenesMax) + " scenes, and no more are asked in one call";

}  // namespace

KnownScenes::KnownScenes(const SceneRules& rules) {
  for (const std::string& scene : rules.declared) add(scene);
}

void KnownScenes::add(std::string_view scene) {
  if (names_.contains(scene)) return;
  if (names_.size() == kScenesMax) {
    too_many_ = true;
  } else {
    names_.emplace(scene);
  }
}

void KnownScenes::note(std::string_view scene) {
  const std::lock_guard lock(mutex_);
  add(scene);
}

void KnownScenes::note_stored(const std::set<std::string>& scenes) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& scene : scenes) add(scene);
  }
  stored_noted_.store(true, std::memory_order_release);
}

AllScenes KnownScenes::all(const std::function<std::string()>& behind) const {
  std::string why_behind = behind ? behind() : "";
  const bool stored = stored_noted();
  const std::lock_guard lock(mutex_);
  AllScenes all{{names_.begin(), names_.end()}, std::move(why_behind)};
  if (too_many_) all.missing = kTooMany;
  if (!stored) all.missing = "the scenes of the filter store have not been read yet";
  return all;
}

}  // namespace bloomring
