// The layout of a site's old store, which bloomring migrates from: a sorted set for each user, or for each scene of a
// user, in which each member is an item and its score the time of the play.
//
// A value without network: keys, members and scores in; users, items and event times out. The bounds are those of
// ingest: an id that no query can ask for, and a time that no play can have, are refused with a reason, and so is a
// score of which nobody can say what it is. A score in whole seconds counts at the end of its second, and one that is
// ahead of the clock by up to a day counts as now, both as in ingest (operators/ingest.h).
// Threading: immutable; all functions are thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/result.h"
#include "schemas/json/time_unit.h"
#include "schemas/legacy/legacy_pattern.h"

namespace bloomring {

// Why a key of the old store, or a member of a set, is not migrated: a closed list.
enum class LegacyRefusal : uint8_t {
  kNone,
  kForeignKey,     // The key is of no pattern.
  kWrongType,      // The key holds no sorted set.
  kEmptyId,        // The user id or the item id is empty...
  kIdTooLong,      // ...or longer than 128 bytes...
  kBadText,        // ...or not UTF-8, or contains the character NUL.
  kUnknownScene,   // Not one of events.scenes, or a name of bloomring's own.
  kForeignMember,  // The member is not of the pattern.
  kNotATime,       // The score is infinite or no number.
  kTimeTooEarly,   // Before 2000.
  kTimeAhead,      // More than a day ahead of the clock.
};
inline constexpr size_t kLegacyRefusalCount = 11;
std::string_view legacy_refusal_name(LegacyRefusal refusal);  // "none", "foreign_key", ...

struct LegacyLayoutConfig {
  std::vector<std::string> keys = {"hist:{user}"};  // Patterns; the first one that matches a key decides.
  std::string member = "{item}";
  TimeUnit score_unit = TimeUnit::kMilliseconds;
  std::vector<std::string> filter_keys = {};  // Patterns of Bloom filters that the site keeps as well, or instead.
  bool scenes_part = true;               // Otherwise the sets of all scenes of a user are united.
  std::vector<std::string> scenes = {};  // The accepted scenes; empty: all.
};

struct LegacyPlay {
  std::string_view item;  // Part of the member.
  int64_t time_ms = 0;
};

class LegacyLayout {
 public:
  // kInvalid, with a sentence that begins with the wrong value.
  static Result<LegacyLayout> create(LegacyLayoutConfig config);

  // The user key whose plays are under `key`.
  LegacyRefusal read_key(std::string_view key, UserKey& user) const;
  LegacyRefusal read_member(std::string_view member BLOOMRING_LIFETIMEBOUND, std::string_view score, int64_t now_ms,
                            LegacyPlay& play) const;
  // The key of a user's set, by the first pattern that has a place for the scene, or needs none. Empty: no pattern.
  std::string key_of(std::string_view scene, std::string_view user) const;
  // Every key that `read_key` takes for this user and scene, by one pattern after the other; where the sets of all
  // scenes are united, with `scene` in its place. Empty: the layout has no key that would be read as theirs.
  std::vector<std::string> keys_of(std::string_view scene, std::string_view user) const;
  // The keys of the Bloom filters in which the site keeps the same.
  std::vector<std::string> filter_keys_of(std::string_view scene, std::string_view user) const;
  std::string member_of(std::string_view item) const;
  // In the unit of the scores; whole milliseconds where the unit is finer or the same.
  std::string score_of(int64_t time_ms) const;
  // The least score whose time is later, of the scores that are whole in their unit.
  std::string score_after(int64_t time_ms) const;

  // A pattern of SCAN that matches every key of the layout, and perhaps others.
  std::string glob() const;
  const LegacyLayoutConfig& config() const { return config_; }

 private:
  explicit LegacyLayout(LegacyLayoutConfig config) : config_(std::move(config)) {}
  LegacyRefusal check_scene(std::string_view scene) const;

  LegacyLayoutConfig config_;
  std::vector<LegacyPattern> keys_;
  std::vector<LegacyPattern> filter_keys_;
  std::vector<LegacyPattern> member_;  // One; a pattern has no empty state.
};

// kEmptyId, kIdTooLong or kBadText; kNone for an id that queries can ask for.
LegacyRefusal check_legacy_id(std::string_view id);

}  // namespace bloomring
