// The scenes that exist, for calls about all scenes of a user.
//
// A replica knows two sets of scenes: those of the filter store, which it reads once its partitions have started (it
// holds nothing else of the log before that), and those of every record that it has applied since. Together these are
// all scenes in which anything can be seen, if the replica holds every partition and is not behind. Otherwise
// `AllScenes::missing` says why scenes may be missing, and an answer about all of them is incomplete. A site that
// declares its scenes (events.scenes) gets no plays of others, so any replica knows them all. The store may still have
// plays of a scene that was declared earlier, or from before the first declaration; calls ask such a scene, too.
//
// Scenes are never removed: asking an empty one costs little. At most kScenesMax are asked.
// Threading: thread safe.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/clock_scene.h"

namespace bloomring {

inline constexpr size_t kScenesMax = 32;  // In one call: each scene is a separate question.

// The scenes that a call about all of them asks.
struct AllScenes {
  std::vector<std::string> names;
  std::string missing;  // Why there may be more scenes; empty: these are all.
};

// The site's settings of scenes.
struct SceneRules {
  bool part_filters = true;           // False: there is one, without a name, whatever a call says.
  std::vector<std::string> declared;  // The only allowed ones; empty: any.

  bool declares() const { return part_filters && !declared.empty(); }
};

class KnownScenes {
 public:
  KnownScenes() = default;
  // Knows the declared scenes from the start.
  explicit KnownScenes(const SceneRules& rules);
  void note(std::string_view scene);
  void note_stored(const std::set<std::string>& scenes);
  // The store's scenes must be read again: partitions start at watermarks that are newer than the last read.
  void expect_stored() { stored_noted_.store(false, std::memory_order_release); }
  // True when the scenes of the filter store are known.
  bool stored_noted() const { return stored_noted_.load(std::memory_order_acquire); }
  // `behind` tells why records that a call about all scenes must know of may not be noted yet; empty: all are. It is
  // asked before the scenes are listed: records that are noted meanwhile are then in the list.
  AllScenes all(const std::function<std::string()>& behind = {}) const;

 private:
  void add(std::string_view scene);

  std::atomic<bool> stored_noted_{false};
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
  bool too_many_ = false;
};

}  // namespace bloomring
