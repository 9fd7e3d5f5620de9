// How often a field of a name occurs in a JSON object, counted member by member: what tests compare the readers with.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomring {

// An object's members in order, repeated ones too; keys are unescaped.
struct NaiveMember {
  std::string key;
  std::vector<NaiveMember> members;  // Of an object.
};

inline std::vector<NaiveMember> naive_members(const simdjson::dom::element& of) {
  std::vector<NaiveMember> members;
  if (!of.is_object()) return members;
  const simdjson::dom::object object = of.get_object().value_unsafe();
  for (const simdjson::dom::key_value_pair member : object)
    members.push_back({std::string(member.key), naive_members(member.value)});
  return members;
}

struct NaiveCount {
  bool there = false;
  bool repeated = false;
};

// Follows one name after the other through every member that has it.
inline NaiveCount naive_count(const std::vector<NaiveMember>& members, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  const auto same = std::ranges::count(members, name, &NaiveMember::key);
  NaiveCount count{same > 0, same > 1};
  if (dot == std::string_view::npos) return count;
  count.there = false;
  for (const NaiveMember& member : members) {
    if (member.key != name) continue;
    const NaiveCount inner = naive_count(member.members, path.substr(dot + 1));
    count.there |= inner.there;
    count.repeated |= inner.repeated;
  }
  return count;
}

// A record that simdjson reads as an object has more than one field that `name` may mean.
inline bool naively_repeated(std::string_view json, std::string_view name) {
  simdjson::dom::parser parser;
  const std::vector<NaiveMember> members = naive_members(parser.parse(simdjson::padded_string(json)).value());
  const auto itself = std::ranges::count(members, name, &NaiveMember::key);
  if (itself > 1 || name.find('.') == std::string_view::npos) return itself > 1;
  const NaiveCount along = naive_count(members, name);
  return along.repeated || (itself == 1 && along.there);
}

}  // namespace bloomring
