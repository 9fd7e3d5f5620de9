#include "state/legacy/legacy_scan.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace bloomring {

namespace {

constexpr std::string_view kKeysOfStep = "200";
constexpr std::string_view kUnknownRun = "-";

// Of the reply to INFO.
std::string run_of(const RedisReply& info) {
  constexpr std::string_view kField = "\nrun_id:";
  const size_t at = info.bytes.find(kField);
  if (info.error() || at == std::string::npos) return std::string(kUnknownRun);
  const size_t begin = at + kField.size();
  return info.bytes.substr(begin, info.bytes.find_first_of("\r\n", begin) - begin);
}

}  // namespace

std::string LegacyScanPosition::text() const {
  std::string text;
  for (const std::string& server_done : done) text += (text.empty() ? "done " : " done ") + server_done;
  if (!server.empty()) text += (text.empty() ? "at " : " at ") + server + " " + run + " " + cursor;
  return text;
}

Result<LegacyScanPosition> LegacyScanPosition::parse(std::string_view text) {
  LegacyScanPosition position;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    bool sound = false;
    if (word == "done") {
      sound = static_cast<bool>(words >> position.done.emplace_back());
    } else if (word == "at" && position.server.empty()) {
      sound = static_cast<bool>(words >> position.server >> position.run >> position.cursor);
    }
    if (!sound) return invalid("'" + std::string(text) + "' is no position of a walk over the old store");
  }
  return position;
}

LegacyScan::LegacyScan(RedisClient& client, std::string glob, LegacyScanPosition from)
    : client_(client), glob_(std::move(glob)), position_(std::move(from)) {}

// False: all are done.
Result<bool> LegacyScan::choose_server() {
  BLOOMRING_TRY_ASSIGN(const std::vector<RedisAddress> primaries, client_.primaries());
  const auto is_server = [&](const RedisAddress& address) { return address.text() == position_.server; };
  chosen_ = std::ranges::any_of(primaries, is_server);
  if (chosen_) return true;
  position_.server.clear();
  for (const RedisAddress& primary : primaries) {
    const std::string address = primary.text();
    if (std::ranges::find(position_.done, address) != position_.done.end()) continue;
    position_.server = address;
    position_.run = kUnknownRun;
    position_.cursor = "0";
    chosen_ = true;
    walked_ = false;
    break;
  }
  return chosen_;
}

Result<std::vector<std::string>> LegacyScan::step() {
  RedisRequest request;
  append_redis_command(request.commands, {"INFO", "server"});
  append_redis_command(request.commands, {"SCAN", position_.cursor, "MATCH", glob_, "COUNT", kKeysOfStep});
  request.replies = 2;
  BLOOMRING_TRY_ASSIGN(request.server, parse_redis_address(position_.server));
  BLOOMRING_TRY_ASSIGN(std::vector<RedisReply> replies, client_.call(std::move(request)));
  const std::string run = run_of(replies[0]);
  const bool same_run = run == kUnknownRun ? walked_ : run == position_.run;
  walked_ = true;
  if (position_.cursor != "0" && !same_run) {  // The cursor was of another run.
    position_.cursor = "0";
    return std::vector<std::string>();
  }
  RedisReply& keys = replies[1];
  if (keys.error()) return redis_failure(keys, "SCAN", client_.config().names);
  if (keys.elements.size() != 2) return retry(position_.server + ": the reply to SCAN has another form");
  position_.run = run;
  position_.cursor = keys.elements[0].bytes;
  std::vector<std::string> found;
  for (RedisReply& key : keys.elements[1].elements) found.push_back(std::move(key.bytes));
  if (position_.cursor == "0") {
    position_.done.push_back(std::exchange(position_.server, {}));
    chosen_ = false;
  }
  return found;
}

Result<std::optional<std::vector<std::string>>> LegacyScan::next() {
  if (!chosen_) {
    BLOOMRING_TRY_ASSIGN(const bool more, choose_server());
    if (!more) return std::optional<std::vector<std::string>>();
  }
  auto keys = step();
  if (!keys.ok()) {
    chosen_ = walked_ = false;
    return std::move(keys).status();
  }
  return std::optional(std::move(*keys));
}

}  // namespace bloomring
