// The items that each user has played: the oracle and the input of `bloomring load`.
//
// Either the plays of the load model, with the ids of `bloomring generate` for the same configuration, or those of a
// file of plays.
// Memory: 4 bytes for each distinct play and 16 for each user, plus the ids of a file.
// Threading: constant once made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "load/load_model.h"
#include "schemas/json/play_json.h"
#include "state/period.h"

namespace bloomring {

class PlayedItems {
 public:
  // In both, plays of periods before `oldest` do not count, since no query reads them.
  static PlayedItems generated(const LoadConfig& config, uint32_t id_bytes, const Calendar& calendar,
                               PeriodIndex oldest);
  // The plays of one scene: JSON lines, read as ingest reads them by this mapping, or tab-separated values
  // (load/play_file.h), which have no scene. Plays that are forgotten later in the file do not count. kInvalid when
  // the file cannot be read, and with the reason when it has no such play.
  static Result<PlayedItems> from_file(const std::string& path, const PlayMapping& mapping, std::string_view scene,
                                       int64_t now_ms, const Calendar& calendar, PeriodIndex oldest);

  // Plays that do not count because of their age.
  uint64_t too_old() const { return too_old_; }
  // Records that ingest would refuse, and the reason for the first.
  uint64_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }

  uint32_t users() const { return static_cast<uint32_t>(first_item_.size() - 1); }
  // The user of the play with this number in [0, plays()): each user as often as the user played.
  uint32_t user_of_play(uint64_t play) const;
  uint64_t plays() const { return plays_until_.empty() ? 0 : plays_until_.back(); }
  // Distinct items of a user.
  uint32_t items_of(uint32_t user) const { return first_item_[user + 1] - first_item_[user]; }
  // Replaces `id`. `index` in [0, items_of(user)); the order is arbitrary and the same for the same plays.
  void user_id(uint32_t user, std::string& id) const;
  void item_id(uint32_t user, uint32_t index, std::string& id) const;

 private:
  struct Raw {
    uint32_t user;
    uint32_t item;
  };
  explicit PlayedItems(uint32_t id_bytes) : id_bytes_(id_bytes) {}
  void build(std::vector<Raw> plays, uint32_t users);

  const uint32_t id_bytes_;            // Of generated ids.
  std::vector<uint64_t> plays_until_;  // By user: plays of all users up to this one.
  std::vector<uint32_t> first_item_;   // By user: index of the first item; one more at the end.
  std::vector<uint32_t> items_;
  std::vector<std::string> user_names_;  // Of a file; empty otherwise.
  std::vector<std::string> item_names_;
  uint64_t too_old_ = 0;
  uint64_t refused_ = 0;
  std::string first_refusal_;
};

}  // namespace bloomring
