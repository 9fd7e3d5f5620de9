#include "pipeline/jobs/migrate/key_source.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace bloomring {

namespace {

constexpr std::string_view kLine = "line ";

std::string key_of(std::string line) {
  if (!line.starts_with("{\"key\":")) return line;
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json["key"].is_string() ? json["key"].get<std::string>() : line;
}

}  // namespace

Status ScannedKeys::begin(const std::string& position) {
  BLOOMRING_TRY_ASSIGN(LegacyScanPosition from, LegacyScanPosition::parse(position));
  scan_.emplace(client_, glob_, std::move(from));
  return {};
}

Result<uint64_t> ScannedKeys::total() {
  BLOOMRING_TRY_ASSIGN(const std::vector<RedisAddress> primaries, client_.primaries());
  uint64_t total = 0;
  for (const RedisAddress& primary : primaries) {
    RedisRequest request;
    append_redis_command(request.commands, {"DBSIZE"});
    request.server = primary;
    BLOOMRING_TRY_ASSIGN(const std::vector<RedisReply> replies, client_.call(std::move(request)));
    // The user may not run it: then the number is not known.
    if (replies[0].error()) return uint64_t{0};
    total += static_cast<uint64_t>(replies[0].integer);
  }
  return total;
}

Status ListedKeys::begin(const std::string& position) {
  uint64_t lines = 0, hash = 0;
  if (!position.empty()) {
    const char* const end = position.data() + position.size();
    const auto line = position.starts_with(kLine) ? std::from_chars(position.data() + kLine.size(), end, lines)
                                                  : std::from_chars_result{end, std::errc()};
    const bool sound = line.ptr != end && *line.ptr == ' ' && std::from_chars(line.ptr + 1, end, hash, 16).ptr == end;
    if (!sound) return invalid("'" + position + "' is no position in a file of keys");
  }
  file_ = std::ifstream(path_);
  lines_ = hash_ = 0;
  if (!file_) return invalid(path_ + ": " + std::strerror(errno) + "; name a file with a key of the old store a line");
  for (std::string line; lines_ < lines && read_line(line);) continue;
  if (lines_ < lines) return invalid(path_ + " has fewer lines than when the job began");
  if (hash_ != hash) {
    return invalid(path_ + " has other lines than when the job read them: give it the same file to go on, or take "
                   "another --name");
  }
  return {};
}

bool ListedKeys::read_line(std::string& line) {
  if (!std::getline(file_, line)) return false;
  ++lines_;
  hash_ = hash_bytes(line, hash_);
  return true;
}

std::string ListedKeys::position() const {
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_));
  return std::string(kLine) + std::to_string(lines_) + " " + hash;
}

Result<std::optional<std::vector<std::string>>> ListedKeys::next() {
  std::vector<std::string> keys;
  std::string line;
  const uint64_t before = lines_;
  while (keys.size() < kKeysOfStep && read_line(line)) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    std::string key = key_of(std::move(line));
    if (keys.empty() || keys.back() != key) keys.push_back(std::move(key));  // Many members of one set are missing.
  }
  if (file_.bad()) return invalid(path_ + " cannot be read on: " + std::strerror(errno));
  if (lines_ == before) return std::optional<std::vector<std::string>>();
  return std::optional(std::move(keys));
}

Result<uint64_t> ListedKeys::total() {
  std::ifstream file(path_);
  if (!file) return invalid(path_ + ": " + std::strerror(errno) + "; name a file with a key of the old store a line");
  uint64_t keys = 0;
  for (std::string line; std::getline(file, line);) keys += line.empty() ? 0 : 1;
  return keys;
}

Result<std::unique_ptr<ListedUsers>> ListedUsers::open(std::string path, const LegacyLayout& layout) {
  const auto has_scene = [](const std::string& key) { return key.find("{scene}") != std::string::npos; };
  if (std::ranges::any_of(layout.config().keys, has_scene) && layout.config().scenes.empty()) {
    return invalid("--users: migrate.keys has {scene}, and events.scenes names no scenes, so nobody knows the keys of "
                   "a user; set events.scenes, or name the keys with --keys");
  }
  return std::unique_ptr<ListedUsers>(new ListedUsers(std::move(path), layout));
}

ListedUsers::ListedUsers(std::string path, const LegacyLayout& layout)
    : layout_(layout),
      scenes_(layout.config().scenes.empty() ? std::vector<std::string>{""} : layout.config().scenes),
      lines_(std::move(path)) {}

std::vector<std::string> ListedUsers::keys_of(const std::string& user) const {
  std::vector<std::string> keys;
  for (const std::string& scene : scenes_)
    for (std::string& key : layout_.keys_of(scene, user)) keys.push_back(std::move(key));
  if (keys.empty()) keys.push_back(user);
  return keys;
}

Result<std::optional<std::vector<std::string>>> ListedUsers::next() {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::vector<std::string>> users, lines_.next());
  if (!users) return std::optional<std::vector<std::string>>();
  std::vector<std::string> keys;
  for (const std::string& user : *users)
    for (std::string& key : keys_of(user)) keys.push_back(std::move(key));
  return std::optional(std::move(keys));
}

Result<uint64_t> ListedUsers::total() {
  BLOOMRING_TRY_ASSIGN(const uint64_t users, lines_.total());
  return users * keys_of("a").size();
}

}  // namespace bloomring
