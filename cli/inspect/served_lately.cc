#include "cli/inspect/served_lately.h"

#include <algorithm>

#include "base/config/listen_address.h"
#include "cli/calls/ask_failure.h"
#include "client/client.h"
#include "schemas/snapshot.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kDeadlineMs = 5000;

// Filters of the store that the service ignores because the user has forgotten everything. A filter with recent plays
// of its period is not listed: it may just be newer than the service's read.
Json left_out(const Snapshot& snapshot, const Json& stored) {
  Json periods = Json::array();
  for (const Json& filter : stored) {
    const auto period = std::ranges::find(snapshot.periods, filter["period"].get<std::string>());
    const auto index = static_cast<uint64_t>(period - snapshot.periods.begin());
    if (period == snapshot.periods.end() || !snapshot.complete) continue;
    const auto of_period = [&](const auto& part) { return part.period == index; };
    const bool looked_in = std::ranges::any_of(snapshot.filters, of_period);
    if (!looked_in && std::ranges::none_of(snapshot.recents, of_period)) periods.push_back(*period);
  }
  return periods;
}

Result<Json> lately(const std::string& server, const InspectArgs& args, const std::string& scene, const Json& stored) {
  BLOOMRING_TRY(check(args.tls));
  const auto client =
      Client::connect({.server = server, .deadline_ms = kDeadlineMs, .fail_open = false, .tls = args.tls});
  const auto blob = client->snapshot(args.user, scene, /*strict=*/false);
  if (!blob.ok()) return Status(blob.code(), ask_failure(server, args.tls, blob.status()));
  BLOOMRING_TRY_ASSIGN(const Snapshot snapshot, decode_snapshot(*blob));
  Json recent = Json::array(), served = Json::array(), masked = Json::array();
  for (const Snapshot::Recent& play : snapshot.recents) {
    recent.push_back({{"item_hash", play.item.value}, {"period", snapshot.periods[play.period]}});
  }
  for (const ItemHash item : snapshot.served) served.push_back(item.value);
  for (const Snapshot::Forgotten& item : snapshot.forgotten)
    masked.push_back({{"item_hash", item.item.value}, {"period", snapshot.periods[item.period]}});
  return Json{{"recent", recent},
              {"served", served},
              {"left_out", {{"items", masked}, {"filters", left_out(snapshot, stored)}}}};
}

}  // namespace

Result<std::string> service_address(const InspectArgs& args, const Settings& settings) {
  if (!args.server.empty()) return args.server;
  BLOOMRING_TRY_ASSIGN(const ListenAddress address, parse_listen_address(settings.serve.listen));
  if (address.port == 0) return invalid("serve.listen takes any free port: name the service with --server HOST:PORT");
  return address.reachable().to_string();
}

Json served_lately(const InspectArgs& args, const Settings& settings, const std::string& scene, const Json& stored) {
  const auto server = service_address(args, settings);
  if (!server.ok()) return {{"service", "not asked: " + server.status().message()}};
  const auto found = lately(*server, args, scene, stored);
  return found.ok() ? *found : Json{{"service", "not asked: " + found.status().message()}};
}

std::set<std::string> scenes_lately(const InspectArgs& args, const Settings& settings) {
  const auto server = service_address(args, settings);
  if (!server.ok() || !check(args.tls).ok()) return {};
  const auto client =
      Client::connect({.server = *server, .deadline_ms = kDeadlineMs, .fail_open = false, .tls = args.tls});
  FilterCall call;
  call.user = args.user;
  call.all_scenes = true;
  const auto reply = client->filter(call);
  if (!reply.ok()) return {};
  return {reply->scenes.begin(), reply->scenes.end()};
}

}  // namespace bloomring::cli
