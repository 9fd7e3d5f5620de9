#include "cli/calls/served_command.h"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/calls/ask_failure.h"
#include "cli/calls/item_lines.h"
#include "cli/calls/json_text.h"
#include "client/client.h"

namespace bloomring {

namespace {

constexpr size_t kItemsInACall = 1'000;

Status record(Client& client, const ServedOptions& options, const std::vector<std::string>& items) {
  for (auto begin = items.begin(); begin != items.end();) {
    const auto end = begin + std::min<ptrdiff_t>(kItemsInACall, items.end() - begin);
    BLOOMRING_TRY(client.record_served(options.user, options.scene, {begin, end}));
    begin = end;
  }
  return {};
}

}  // namespace

int served(const ServedOptions& options, std::istream& in, std::ostream& out, std::ostream& err) {
  if (const Status files = check(options.tls); !files.ok()) {
    err << files.message() << '\n';
    return 2;
  }
  const auto client = Client::connect(
      {.server = options.server, .deadline_ms = options.deadline_ms, .fail_open = false, .tls = options.tls});
  const std::vector<std::string> items = options.items.empty() ? item_lines(in) : options.items;
  if (items.empty()) {
    err << "there are no items to record; name them behind --user, or one a line on standard input\n";
    return 2;
  }
  if (const Status status = record(*client, options, items); !status.ok()) {
    err << ask_failure(options.server, options.tls, status) << '\n';
    return status.code() == Code::kBadRecord ? 2 : 1;
  }
  nlohmann::ordered_json json = {{"user", options.user}};
  if (!options.scene.empty()) json["scene"] = options.scene;
  json["recorded"] = items.size();
  out << (options.text ? json_text(json) : json.dump() + '\n') << std::flush;
  return 0;
}

}  // namespace bloomring
