#include "cli/calls/forget_command.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/calls/ask_failure.h"
#include "cli/calls/json_text.h"
#include "client/client.h"

namespace bloomring {

namespace {

Status forget_all_of(Client& client, const ForgetOptions& options) {
  const bool all = options.all_scenes;
  if (options.everything) {
    return all ? client.forget_everything_in_all_scenes(options.user)
               : client.forget_everything(options.user, options.scene);
  }
  for (const std::string& item : options.items) {
    BLOOMRING_TRY(all ? client.forget_in_all_scenes(options.user, item)
                      : client.forget(options.user, options.scene, item));
  }
  return {};
}

}  // namespace

int forget(const ForgetOptions& options, std::ostream& out, std::ostream& err) {
  if (const Status files = check(options.tls); !files.ok()) {
    err << files.message() << '\n';
    return 2;
  }
  const auto client = Client::connect(
      {.server = options.server, .deadline_ms = options.deadline_ms, .fail_open = false, .tls = options.tls});
  if (const Status status = forget_all_of(*client, options); !status.ok()) {
    err << ask_failure(options.server, options.tls, status) << '\n';
    return status.code() == Code::kBadRecord ? 2 : 1;
  }
  nlohmann::ordered_json json = {{"user", options.user}};
  if (!options.scene.empty()) json["scene"] = options.scene;
  if (options.all_scenes) json["all_scenes"] = true;
  json["forgotten"] = options.items;
  if (options.everything) json["forgotten"] = "everything";
  out << (options.text ? json_text(json) : json.dump() + '\n') << std::flush;
  return 0;
}

}  // namespace bloomring
