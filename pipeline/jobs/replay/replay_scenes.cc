#include "pipeline/jobs/replay/replay_scenes.h"

#include <algorithm>

namespace bloomring {

namespace {

bool has(const std::vector<std::string>& scenes, const std::string& scene) {
  return std::ranges::find(scenes, scene) != scenes.end();
}

std::string quoted(const std::string& scene) { return "'" + scene + "'"; }

}  // namespace

Status check_replay_scenes(const ReplayScenes& source, const ReplayScenes& living, bool blocks) {
  if (source.part && !living.part) {
    return invalid(std::string("the plays of --source-config have scenes (events.scene), and no query of this "
                               "installation, which has none, would find them: ") +
                   (blocks ? "replay the topics of plays instead, with --form json and a --source-config without "
                             "events.scene"
                           : "remove events.scene from that file"));
  }
  if (living.declared.empty()) return {};
  if (!blocks) {
    if (source.declared.empty() || !mapped_scenes(source, living).empty()) return {};
    return invalid("no scene of --source-config is one of this installation (events.scenes): every play would be "
                   "refused");
  }
  const std::string way_out = "; add it to events.scenes of this installation, or replay the topics of plays, with "
                              "--form json";
  if (!source.part && has(living.declared, "")) return {};
  if (!source.part)
    return invalid("the plays of --source-config have no scene, and events.scenes does not have ''" + way_out);
  if (source.declared.empty())
    return invalid("the plays of --source-config may have any scene (events.scenes is empty there), and this "
                   "installation declares its scenes: declare those of that one, too");
  for (const std::string& scene : source.declared)
    if (!has(living.declared, scene)) return invalid("this installation has no scene " + quoted(scene) + way_out);
  return {};
}

std::vector<std::string> mapped_scenes(const ReplayScenes& source, const ReplayScenes& living) {
  if (living.declared.empty()) return source.declared;
  std::vector<std::string> both;
  for (const std::string& scene : living.declared)
    if (source.declared.empty() || has(source.declared, scene)) both.push_back(scene);
  return both;
}

}  // namespace bloomring
