// A pattern of the keys or members of a site's old sorted sets: text with places for ids.
//
//   hist:{user}           one set for each user
//   hist:{scene}:{user}   one set for each scene of a user
//   {{user}}:hist         the inner braces are the place, the outer ones a hash tag of a cluster
//   v:{item}              of members
//
// Matching takes any bytes for a place, none included; the caller judges them. With two places, what stands between
// them does not occur in the scene, but may occur in the user id.
// Threading: immutable; all functions are thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/result.h"

namespace bloomring {

// The ids in a key or member. Borrows: the caller keeps the text that was matched.
struct LegacyIds {
  std::string_view user = {};
  std::string_view scene = {};
  std::string_view item = {};
};

class LegacyPattern {
 public:
  // Patterns of keys have {user} once and {scene} at most once; those of members have {item} once.
  // kInvalid with a sentence that begins with "must", for the message about a setting.
  static Result<LegacyPattern> of_keys(std::string_view text);
  static Result<LegacyPattern> of_members(std::string_view text);

  // False when the text is of another form.
  bool match(std::string_view text BLOOMRING_LIFETIMEBOUND, LegacyIds& ids) const;
  // The text with these ids.
  std::string fill(const LegacyIds& ids) const;
  bool has_scene() const;

  const std::string& text() const { return text_; }
  // The text before the first place.
  const std::string& prefix() const { return literals_.front(); }
  // As a pattern of SCAN ... MATCH: a star for each place, everything else taken literally.
  std::string glob() const;

 private:
  LegacyPattern() = default;
  using Place = std::string_view LegacyIds::*;
  static Result<LegacyPattern> parse(std::string_view text);
  size_t count(Place place) const;

  std::string text_;
  std::vector<Place> places_;
  std::vector<std::string> literals_;  // Before, between and behind the places: one more than these.
};

// The text as a pattern of SCAN that matches nothing else.
std::string escape_glob(std::string_view text);

}  // namespace bloomring
