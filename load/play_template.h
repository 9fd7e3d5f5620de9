// Writes plays like a site's own producers: by its mapping (schemas/json/play_json.h), with nested fields, kinds and
// the time watched.
//
// The template is made once: a play's text with holes. If the site declares its scenes, plays are in the first of
// them.
// Guarantees: ingest accepts the record under that mapping, and it counts as a play.
// Threading: const calls are thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/json/play_json.h"

namespace bloomring {

class PlayTemplate {
 public:
  explicit PlayTemplate(const PlayMapping& mapping);

  // Replaces `json`. `user` and `item` as JSON, in quotation marks. The caller chooses the watched and total
  // durations, unless the site has a rule of views: then all was watched.
  void write(std::string_view user, std::string_view item, int64_t time_ms, uint64_t watched_ms, uint64_t duration_ms,
             std::string& json) const;
  // The same with any ids, and a whole minute watched.
  std::string play(const std::string& user, const std::string& item, int64_t time_ms) const;
  // The scene of the plays.
  const std::string& scene() const { return scene_; }

 private:
  enum class Hole : uint8_t { kUser, kItem, kTime, kWatched, kDuration };
  static constexpr size_t kHoles = 5;
  struct Piece {
    std::string text;  // Before the hole.
    Hole hole;
  };

  const ViewRule view_;
  const TimeUnit time_unit_;
  std::string scene_;
  std::vector<Piece> pieces_;
  std::string tail_;
};

}  // namespace bloomring
