#include "pipeline/settings/process_identity.h"

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "base/words.h"

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProgram = "bloomring";

}  // namespace

bool ProcessIdentity::same_installation(const ProcessIdentity& other) const {
  return kafka == other.kafka && group_prefix == other.group_prefix;
}

std::string ProcessIdentity::to_string() const {
  return "instance " + instance + ", stages " + joined(stages, ",");
}

ProcessIdentity identity_of(const Settings& settings) {
  ProcessIdentity identity;
  identity.version = version();
  identity.commit = commit();
  identity.instance = settings.instance;
  for (const StageRow* row : settings.stages) identity.stages.emplace_back(row->name);
  identity.kafka = settings.kafka.bootstrap;
  identity.group_prefix = settings.kafka.group_prefix;
  if (take_calls(settings.stages)) identity.grpc = settings.serve.listen;
  return identity;
}

std::string to_json(const ProcessIdentity& identity) {
  Json json = {{"program", kProgram},          {"version", identity.version}, {"commit", identity.commit},
               {"instance", identity.instance}, {"stages", identity.stages},   {"kafka", identity.kafka},
               {"group_prefix", identity.group_prefix}};
  if (!identity.grpc.empty()) json["grpc"] = identity.grpc;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ProcessIdentity> parse_identity(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("program", Json()) != kProgram) return invalid("no bloomring process");
  try {
    ProcessIdentity identity;
    identity.version = json.at("version");
    identity.commit = json.at("commit");
    identity.instance = json.at("instance");
    identity.stages = json.at("stages").get<std::vector<std::string>>();
    identity.kafka = json.at("kafka");
    identity.group_prefix = json.at("group_prefix");
    identity.grpc = json.value("grpc", "");
    return identity;
  } catch (const Json::exception& error) {
    return invalid(std::string("no bloomring process: ") + error.what());
  }
}

}  // namespace bloomring
