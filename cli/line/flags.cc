#include "cli/line/flags.h"

#include "base/config/listen_address.h"
#include "base/config/nearest.h"
#include "base/ids.h"
#include "client/server_list.h"

namespace bloomring::cli {

namespace {

// Names in gRPC's own way ("dns:///host:port", "unix:/path") pass.
std::string complain_of_address(const std::string& text) {
  const size_t colon = text.find(':');
  const bool own = text.find('/') != std::string::npos || text.starts_with("unix") || text.starts_with("ipv");
  const auto parsed = parse_listen_address(text);
  if ((own && colon != std::string::npos) || (parsed.ok() && parsed->port != 0)) return "";
  return text + " must be HOST:PORT, as " + text.substr(0, colon) + ":7700";
}

std::string complain_of_addresses(const std::string& list) {
  for (const std::string& server : split_servers(list)) {
    if (std::string complaint = complain_of_address(server); !complaint.empty()) return complaint;
  }
  return "";
}

std::string complain_of_id(const std::string& id) {
  if (!id.empty() && id.size() <= kIdBytesMax) return "";
  return "the id " + (id.empty() ? "is empty" : "has " + std::to_string(id.size()) + " bytes") +
         "; an id has 1 to " + std::to_string(kIdBytesMax) + " bytes";
}

}  // namespace

void add_config_flags(CLI::App& command, ConfigArgs& args) {
  command.add_option("--config", args.path, "Configuration file (YAML); `bloomring reference config` lists its keys")
      ->type_name("FILE");
  command.add_option("--set", args.sets, "Set one key, over file and environment: --set ring.slots=5; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

std::string hint_for(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

CLI::Option* add_user_flag(CLI::App& command, std::string& user, const std::string& doc) {
  return command.add_option("--user", user, doc)->check(CLI::Validator(complain_of_id, ""))->type_name("ID");
}

void add_output_flag(CLI::App& command, OutputFormat& output) {
  add_word<OutputFormat>(command, "--output", output, {{"json", OutputFormat::kJson}, {"text", OutputFormat::kText}},
                         "Form of the result (default: json)");
}

void add_server_flags(CLI::App& command, std::string& server, TlsClientFiles& tls, const std::string& doc) {
  command.add_option("--server", server, doc)
      ->check(CLI::Validator(complain_of_addresses, ""))
      ->type_name("HOST:PORT[,HOST:PORT...]");
  CLI::Option* ca = command.add_option("--tls-ca", tls.ca, "Ask over TLS; PEM file with the authorities to trust")
                        ->type_name("FILE");
  CLI::Option* certificate = command.add_option("--tls-cert", tls.certificate, "PEM file with the client certificate")
                                 ->type_name("FILE")
                                 ->needs(ca);
  CLI::Option* key = command.add_option("--tls-key", tls.key, "PEM file with the key of --tls-cert")->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
}

void add_timeout_flag(CLI::App& command, int64_t& timeout_ms, const std::string& doc) {
  command.add_option("--timeout-ms", timeout_ms, doc)->check(CLI::Range(1, 600'000))->type_name("MS");
}

CLI::Option* add_admin_flag(CLI::App& command, std::string& admin, const std::string& whose) {
  return command.add_option("--admin", admin, "Admin port of the process" + whose + " (default: admin.listen)")
      ->type_name("HOST:PORT");
}

}  // namespace bloomring::cli
