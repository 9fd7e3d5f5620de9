#include "schemas/legacy/legacy_pattern.h"

#include <algorithm>

namespace bloomring {

namespace {

struct Word {
  std::string_view text;
  std::string_view LegacyIds::* place;
};
constexpr Word kWords[] = {
    {"{user}", &LegacyIds::user}, {"{scene}", &LegacyIds::scene}, {"{item}", &LegacyIds::item}};

}  // namespace

std::string escape_glob(std::string_view text) {
  std::string glob;
  for (const char c : text) {
    if (std::string_view("*?[]\\^").find(c) != std::string_view::npos) glob.push_back('\\');
    glob.push_back(c);
  }
  return glob;
}

Result<LegacyPattern> LegacyPattern::parse(std::string_view text) {
  LegacyPattern pattern;
  pattern.text_ = text;
  while (true) {
    size_t first = std::string_view::npos;
    const Word* found = nullptr;
    for (const Word& word : kWords) {
      const size_t at = text.find(word.text);
      if (at >= first) continue;
      first = at;
      found = &word;
    }
    if (found == nullptr) break;
    pattern.literals_.emplace_back(text.substr(0, first));
    pattern.places_.push_back(found->place);
    text.remove_prefix(first + found->text.size());
  }
  pattern.literals_.emplace_back(text);
  return pattern;
}

size_t LegacyPattern::count(Place place) const {
  return static_cast<size_t>(std::ranges::count(places_, place));
}

bool LegacyPattern::has_scene() const { return count(&LegacyIds::scene) > 0; }

Result<LegacyPattern> LegacyPattern::of_keys(std::string_view text) {
  BLOOMRING_TRY_ASSIGN(LegacyPattern pattern, parse(text));
  const bool once = pattern.count(&LegacyIds::user) == 1 && pattern.count(&LegacyIds::scene) <= 1;
  if (!once || pattern.count(&LegacyIds::item) > 0)
    return invalid("must have {user} once and {scene} at most once, as hist:{user} or hist:{scene}:{user}");
  if (pattern.places_.size() == 2 && pattern.literals_[1].empty())
    return invalid("must have text between {scene} and {user}, or nobody can tell where one ends");
  return pattern;
}

Result<LegacyPattern> LegacyPattern::of_members(std::string_view text) {
  BLOOMRING_TRY_ASSIGN(LegacyPattern pattern, parse(text));
  if (pattern.places_.size() != 1 || pattern.count(&LegacyIds::item) != 1)
    return invalid("must have {item} once and no other place, as {item} or v:{item}");
  return pattern;
}

bool LegacyPattern::match(std::string_view text, LegacyIds& ids) const {
  if (!text.starts_with(literals_.front())) return false;
  text.remove_prefix(literals_.front().size());
  if (!text.ends_with(literals_.back())) return false;
  text.remove_suffix(literals_.back().size());
  if (places_.size() == 1) {
    ids.*places_[0] = text;
    return true;
  }
  // The scene ends at the separator that is nearest to it.
  const std::string& between = literals_[1];
  const bool scene_first = places_[0] == &LegacyIds::scene;
  const size_t at = scene_first ? text.find(between) : text.rfind(between);
  if (at == std::string_view::npos) return false;
  ids.*places_[0] = text.substr(0, at);
  ids.*places_[1] = text.substr(at + between.size());
  return true;
}

std::string LegacyPattern::fill(const LegacyIds& ids) const {
  std::string text = literals_[0];
  for (size_t i = 0; i < places_.size(); ++i) text.append(ids.*places_[i]).append(literals_[i + 1]);
  return text;
}

std::string LegacyPattern::glob() const {
  std::string glob = escape_glob(literals_[0]);
  for (size_t i = 0; i < places_.size(); ++i) glob += "*" + escape_glob(literals_[i + 1]);
  return glob;
}

}  // namespace bloomring
