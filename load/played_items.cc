#include "load/played_items.h"

#include <algorithm>

#include "load/play_file.h"

namespace bloomring {

namespace {

// Numbers names in order of first appearance.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string>& names) : names_(names) {}
  uint32_t operator()(const std::string& name) {
    const auto [known, fresh] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return known->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

// The reason why a file has no play to ask about.
Status no_plays(const std::string& path, std::string_view scene, const std::string& other_scene,
                const std::string& refusal) {
  const std::string wanted = scene.empty() ? "without a scene" : "of scene " + std::string(scene);
  if (!other_scene.empty()) {
    return invalid(path + ": no play is " + wanted + ", but one is of scene " + other_scene + ": name it with --scene");
  }
  if (refusal.empty()) return invalid(path + ": no play is " + wanted);
  return invalid(path + ": " + refusal +
                 "; name the configuration whose keys under `events` say how the plays look with --config");
}

}  // namespace

// Sorts by user; keeps each item of a user once, in an order independent of popularity.
void PlayedItems::build(std::vector<Raw> plays, uint32_t users) {
  plays_until_.assign(users, 0);
  for (const Raw& play : plays) ++plays_until_[play.user];
  for (uint32_t user = 1; user < users; ++user) plays_until_[user] += plays_until_[user - 1];
  std::ranges::sort(plays,
                    [](const Raw& a, const Raw& b) { return a.user != b.user ? a.user < b.user : a.item < b.item; });
  const auto same = [](const Raw& a, const Raw& b) { return a.user == b.user && a.item == b.item; };
  plays.erase(std::unique(plays.begin(), plays.end(), same), plays.end());
  first_item_.assign(1, 0);
  LoadRandom random(1);
  for (size_t begin = 0; first_item_.size() <= users;) {
    const auto user = static_cast<uint32_t>(first_item_.size() - 1);
    size_t end = begin;
    for (; end < plays.size() && plays[end].user == user; ++end) items_.push_back(plays[end].item);
    for (size_t left = end - begin; left > 1; --left)
      std::swap(items_[begin + left - 1], items_[begin + random.bits() % left]);
    first_item_.push_back(static_cast<uint32_t>(end));
    begin = end;
  }
}

PlayedItems PlayedItems::generated(const LoadConfig& config, uint32_t id_bytes, const Calendar& calendar,
                                   PeriodIndex oldest) {
  LoadModel model(config);
  std::vector<Raw> plays;
  plays.reserve(config.plays);
  PlayedItems played(id_bytes);
  for (LoadPlay play; model.next(play);) {
    if (calendar.period_of_ms(play.time_ms) < oldest) {
      ++played.too_old_;
    } else {
      plays.push_back({play.user, play.item});
    }
  }
  played.build(std::move(plays), config.users);
  return played;
}

Result<PlayedItems> PlayedItems::from_file(const std::string& path, const PlayMapping& mapping,
                                           std::string_view scene, int64_t now_ms, const Calendar& calendar,
                                           PeriodIndex oldest) {
  auto read = read_play_file(path, 0, mapping);
  BLOOMRING_TRY(read.status().with_context("--plays-file"));
  const PlayFile file = std::move(*read);
  PlayedItems played(0);
  Numbering users(played.user_names_), items(played.item_names_);
  std::vector<Raw> plays;
  PlayParser parser(mapping);
  std::string other_scene;
  for (size_t i = 0; i < file.json.size(); ++i) {
    Play play;
    const Refusal refusal = parser.parse(file.json[i], now_ms, play);
    if (refusal != Refusal::kNone) {
      if (played.refused_++ == 0) {
        played.first_refusal_ = "record " + std::to_string(i + 1) + " would be refused as " +
                                std::string(refusal_name(refusal)) + ": " + parser.detail() + ": " + file.json[i];
      }
    } else if (play.skip != Skip::kNone) {
      continue;
    } else if (play.scene != scene) {
      other_scene = play.scene;
    } else if (play.kind == EventKind::kPlay && calendar.period_of_ms(play.time_ms) < oldest) {
      ++played.too_old_;
    } else if (play.kind == EventKind::kPlay) {
      plays.push_back({users(std::string(play.user)), items(std::string(play.item))});
    } else if (is_forget(play.kind)) {
      const uint32_t user = users(std::string(play.user));
      const bool all = play.kind == EventKind::kForgetAll;
      const uint32_t item = all ? 0 : items(std::string(play.item));
      std::erase_if(plays, [&](const Raw& raw) { return raw.user == user && (all || raw.item == item); });
    }
  }
  if (plays.empty() && played.too_old_ > 0) {
    return invalid(path + ": all " + std::to_string(played.too_old_) +
                   " plays are older than the periods that a query reads; see filter.periods_read");
  }
  if (plays.empty()) return no_plays(path, scene, other_scene, played.first_refusal_);
  played.build(std::move(plays), static_cast<uint32_t>(played.user_names_.size()));
  return played;
}

uint32_t PlayedItems::user_of_play(uint64_t play) const {
  return static_cast<uint32_t>(std::ranges::upper_bound(plays_until_, play) - plays_until_.begin());
}

void PlayedItems::user_id(uint32_t user, std::string& id) const {
  if (!user_names_.empty()) {
    id = user_names_[user];
  } else {
    write_user_id({.user = user}, id_bytes_, id);
  }
}

void PlayedItems::item_id(uint32_t user, uint32_t index, std::string& id) const {
  const uint32_t item = items_[first_item_[user] + index];
  if (!item_names_.empty()) {
    id = item_names_[item];
  } else {
    write_item_id({.item = item}, id_bytes_, id);
  }
}

}  // namespace bloomring
