// Plays as a site's own producers write them: by its mapping (schemas/json/play_json.h), nested fields, kinds and the
// time watched included. What is written is accepted under that mapping, and counts as a play.
//
// Made once, a play is text with holes. Of a site whose scenes are declared it is in the first of them.
// Thread safety: const calls.
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

  // Replaces `json`. `user` and `item` as JSON, in quotation marks. How much of which length was watched is up to the
  // caller, unless the site has a rule: then all of it was.
  void write(std::string_view user, std::string_view item, int64_t time_ms, uint64_t watched_ms, uint64_t duration_ms,
             std::string& json) const;
  // With any ids, and all of a minute watched.
  std::string play(const std::string& user, const std::string& item, int64_t time_ms) const;
  // The scene of what is written.
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
