// Whether the plays of one installation's topics can be asked for in another one, by their scenes.
//
// The scene is a part of the user key, so a play whose scene no query names is written and never seen.
// Threading: pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace bloomring {

struct ReplayScenes {
  bool part = false;                       // Filters of two scenes are apart: events.scene.
  std::vector<std::string> declared = {};  // events.scenes; empty: any.
};

// kInvalid, with what to change, when plays of `source` would never be seen in `living`. Of plays in JSON a scene that
// `living` does not declare is no fault: the replay refuses such plays one by one (`mapped_scenes`). Event blocks have
// hashes of users, which nobody can refuse.
Status check_replay_scenes(const ReplayScenes& source, const ReplayScenes& living, bool blocks);
// Those that plays in JSON may have.
std::vector<std::string> mapped_scenes(const ReplayScenes& source, const ReplayScenes& living);

}  // namespace bloomring
