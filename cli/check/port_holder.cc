#include "cli/check/port_holder.h"

#include "base/config/listen_address.h"
#include "base/ids.h"
#include "client/client.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/settings/process_identity.h"

namespace bloomring::cli {

namespace {

constexpr int64_t kDeadlineMs = 2000;

std::string named(const ProcessIdentity& process, const Settings& settings) {
  const std::string& kafka = process.kafka;
  const std::string other = kafka == settings.kafka.bootstrap ? "" : ", with kafka.bootstrap " + kafka;
  return "the port is held by a running process of this configuration (" + process.to_string() + other + ")";
}

// The process at admin.listen, if it belongs to this installation.
Result<ProcessIdentity> own_process(const Settings& settings, bool brokers_answer) {
  BLOOMRING_TRY_ASSIGN(const std::string page, get_admin_page(settings.admin.listen, "/version"));
  BLOOMRING_TRY_ASSIGN(ProcessIdentity found, parse_identity(page));
  const bool may_be = !brokers_answer && found.group_prefix == settings.kafka.group_prefix;
  if (!may_be && !found.same_installation(identity_of(settings))) return invalid("another installation");
  return found;
}

// Our service refuses a user id that is too long, without a count; other services do not understand the call.
bool is_service(const Settings& settings) {
  const auto address = parse_listen_address(settings.serve.listen);
  if (!address.ok()) return false;
  const TlsClientFiles tls = settings.serve.tls.enabled() ? settings.serve.peer_tls() : TlsClientFiles();
  const auto client = Client::connect(
      {.server = address->reachable().to_string(), .deadline_ms = kDeadlineMs, .fail_open = false, .tls = tls});
  FilterCall call;
  call.user = std::string(kIdBytesMax + 1, 'u');
  return client->filter(call).code() == Code::kBadRecord;
}

}  // namespace

OwnHolder own_holder(const Settings& settings, bool brokers_answer) {
  return [&settings, brokers_answer](const std::string& key, const std::string& address) -> std::string {
    const auto process = own_process(settings, brokers_answer);
    if (key == "admin.listen") return process.ok() ? named(*process, settings) : "";
    if (process.ok() && process->grpc == address) return named(*process, settings);
    return is_service(settings) ? "the port is held by a running bloomring service" : "";
  };
}

}  // namespace bloomring::cli
