#include "cli/calls/query_command.h"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/calls/ask_failure.h"
#include "cli/calls/item_json.h"
#include "cli/calls/item_lines.h"
#include "cli/calls/json_text.h"
#include "client/client.h"

namespace bloomring {

namespace {

// `ordered_json` keeps the fields in a readable order.
using Json = nlohmann::ordered_json;

constexpr size_t kItemsInARequest = 20'000;  // The default of `serve.candidates_max`.

Json gap_json(const Gap& gap) {
  Json json = {{"source", source_name(gap.source)}, {"reason", gap.reason}};
  if (gap.lag_ms != 0) json["lag_seconds"] = static_cast<double>(gap.lag_ms) / 1000;
  return json;
}

void append(FilterReply&& part, FilterReply& whole) {
  whole.items.insert(whole.items.end(), part.items.begin(), part.items.end());
  whole.complete = whole.complete && part.complete;
  whole.gaps.insert(whole.gaps.end(), part.gaps.begin(), part.gaps.end());
  whole.expected_error = std::max(whole.expected_error, part.expected_error);
  whole.saturated = whole.saturated || part.saturated;
  whole.user_known = whole.user_known || part.user_known;
  whole.scenes = std::move(part.scenes);
  whole.known_scenes = std::move(part.known_scenes);
}

// Splits the items over as many requests as needed.
Result<FilterReply> ask(Client& client, const FilterCall& call) {
  FilterReply whole;
  whole.complete = true;
  size_t begin = 0;
  do {
    FilterCall part;
    part.user = call.user;
    part.scene = call.scene;
    part.all_scenes = call.all_scenes;
    const size_t end = std::min(begin + kItemsInARequest, call.items.size());
    part.items.assign(call.items.begin() + static_cast<ptrdiff_t>(begin),
                      call.items.begin() + static_cast<ptrdiff_t>(end));
    BLOOMRING_TRY_ASSIGN(FilterReply reply, client.filter(part));
    append(std::move(reply), whole);
    begin = end;
  } while (begin < call.items.size());
  return whole;
}

void print(const FilterCall& call, const FilterReply& reply, bool text, std::ostream& out) {
  Json json = {{"user", call.user}};
  if (!call.scene.empty()) json["scene"] = call.scene;
  json["complete"] = reply.complete;
  json["user_known"] = reply.user_known;
  if (call.all_scenes) {
    json["scenes"] = reply.scenes;
    json["known_scenes"] = reply.known_scenes;
  }
  for (const Gap& gap : reply.gaps) json["gaps"].push_back(gap_json(gap));
  if (reply.expected_error > 0) json["expected_error"] = reply.expected_error;
  if (reply.saturated) json["saturated"] = true;
  json["items"] = Json::array();
  for (size_t i = 0; i < call.items.size(); ++i) json["items"].push_back(item_json(call.items[i], reply.items[i]));
  out << (text ? json_text(json) : json.dump() + '\n') << std::flush;
}

Result<std::string> id_of(const Json& json, std::string_view field) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return json.dump();
  return bad_record(std::string(field) + " must be a string or an integer");
}

Result<FilterCall> parse_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("user") || !json.contains("items") || !json["items"].is_array()) {
    return bad_record(R"(the line must be {"user":..,"items":[..]})");
  }
  FilterCall call;
  BLOOMRING_TRY_ASSIGN(call.user, id_of(json["user"], "user"));
  if (json.contains("scene")) {
    BLOOMRING_TRY_ASSIGN(call.scene, id_of(json["scene"], "scene"));
  }
  if (json.contains("all_scenes")) {
    if (!json["all_scenes"].is_boolean()) return bad_record("all_scenes must be true or false");
    call.all_scenes = json["all_scenes"];
  }
  for (const Json& item : json["items"]) {
    BLOOMRING_TRY_ASSIGN(call.items.emplace_back(), id_of(item, "an item"));
  }
  return call;
}

Status answer_line(Client& client, const std::string& line, bool text, std::ostream& out) {
  BLOOMRING_TRY_ASSIGN(const FilterCall call, parse_line(line));
  BLOOMRING_TRY_ASSIGN(const FilterReply reply, ask(client, call));
  print(call, reply, text, out);
  return {};
}

// A note for an answer of only "unseen" items: the service knows nothing of the user, or only in other scenes, which
// it asks for.
std::string unknown_user(Client& client, const FilterCall& call) {
  const std::string user = "nothing is known of user " + call.user;
  const std::string nowhere = user + " in any scene: no play, and nothing served";
  if (call.all_scenes) return nowhere;
  FilterCall anywhere;
  anywhere.user = call.user;
  anywhere.all_scenes = true;
  const Result<FilterReply> reply = client.filter(anywhere);
  if (reply.ok() && reply->complete && reply->known_scenes.empty()) return nowhere;
  const std::string here = user + (call.scene.empty() ? " without a scene" : " in scene " + call.scene) +
                           ": no play, and nothing served";
  if (!reply.ok() || reply->known_scenes.empty()) return here + "; --all-scenes asks all scenes";
  std::string known;
  for (const std::string& scene : reply->known_scenes)
    known += (known.empty() ? "" : ", ") + (scene.empty() ? "no scene" : scene);
  return here + "; the user is known in other scenes (" + known + "): ask with --scene, or --all-scenes for all";
}

int batch(Client& client, bool text, std::istream& in, std::ostream& out) {
  int code = 0;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const Status status = answer_line(client, line, text, out);
    if (status.ok()) continue;
    const Json json = {{"line", number}, {"error", status.message()}};
    out << (text ? json_text(json) : json.dump() + '\n') << std::flush;
    code = 1;
  }
  return code;
}

}  // namespace

int query(const QueryOptions& options, std::istream& in, std::ostream& out, std::ostream& err) {
  if (const Status files = check(options.tls); !files.ok()) {
    err << files.message() << '\n';
    return 2;
  }
  const auto client = Client::connect(
      {.server = options.server, .deadline_ms = options.deadline_ms, .fail_open = false, .tls = options.tls});
  if (options.batch) return batch(*client, options.text, in, out);
  FilterCall call;
  call.user = options.user;
  call.scene = options.scene;
  call.all_scenes = options.all_scenes;
  call.items = options.items.empty() ? item_lines(in) : options.items;
  const Result<FilterReply> reply = ask(*client, call);
  if (!reply.ok()) {
    err << ask_failure(options.server, options.tls, reply.status()) << '\n';
    return reply.code() == Code::kBadRecord ? 2 : 1;
  }
  print(call, *reply, options.text, out);
  if (reply->complete && !reply->user_known) err << unknown_user(*client, call) << '\n';
  return 0;
}

}  // namespace bloomring
