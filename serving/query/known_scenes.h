// Which scenes there are, for calls about all scenes of a user.
//
// A replica knows the scenes of the filter store, which it reads once its partitions have started (of what the log
// held before that, nothing else is left), and those of every record that it has applied since. Together these are all
// scenes in which anything can be seen, as long as the replica holds every partition and is not behind; otherwise
// `AllScenes::missing` says what may be lacking, and an answer about them is incomplete. A site that declares its
// scenes (events.scenes) gets no plays of others, whatever partitions a replica holds. The store may have plays of a
// scene that was declared earlier, or from before the site declared any; such a scene is asked, too.
//
// Scenes are not forgotten: one that is asked about in vain costs a little time. At most kScenesMax are asked.
// Threading: thread safe.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/clock_scene.h"

namespace bloomring {

inline constexpr size_t kScenesMax = 32;  // In one call: each is a question of its own.

// The scenes that a call about all of them asks.
struct AllScenes {
  std::vector<std::string> names;
  std::string missing;  // Why there may be others; empty: there are none.
};

// What the site says of its scenes.
struct SceneRules {
  bool part_filters = true;           // Otherwise there is one, without a name, whatever a call says.
  std::vector<std::string> declared;  // The only ones there are; empty: any.

  bool declares() const { return part_filters && !declared.empty(); }
};

class KnownScenes {
 public:
  KnownScenes() = default;
  // The declared ones are among them.
  explicit KnownScenes(const SceneRules& rules);
  void note(std::string_view scene);
  void note_stored(const std::set<std::string>& scenes);
  // Partitions start at watermarks that are newer than the last reading: the store is to be read again.
  void expect_stored() { stored_noted_.store(false, std::memory_order_release); }
  // Those of the filter store are among them.
  bool stored_noted() const { return stored_noted_.load(std::memory_order_acquire); }
  AllScenes all() const;

 private:
  void add(std::string_view scene);

  std::atomic<bool> stored_noted_{false};
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
  bool too_many_ = false;
};

}  // namespace bloomring
