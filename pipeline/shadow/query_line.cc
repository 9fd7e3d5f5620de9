#include "pipeline/shadow/query_line.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "schemas/legacy/legacy_layout.h"

namespace bloomring {

namespace {

using Json = nlohmann::json;

std::optional<std::string> id_of(const Json& value) {
  if (value.is_number_unsigned()) return std::to_string(value.get<uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

Status take_id(const Json& value, std::string_view field, std::string& target) {
  const std::optional<std::string> id = id_of(value);
  if (!id) return bad_record(std::string(field) + " is no string and no integer");
  const LegacyRefusal refusal = check_legacy_id(*id);
  if (refusal != LegacyRefusal::kNone)
    return bad_record(std::string(field) + ": " + std::string(legacy_refusal_name(refusal)));
  target = *id;
  return {};
}

}  // namespace

Result<FilterCall> parse_query_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return bad_record("no JSON object");
  const auto user = json.find("user"), scene = json.find("scene"), candidates = json.find("candidates");
  if (user == json.end()) return bad_record("user is missing");
  if (candidates == json.end() || !candidates->is_array()) return bad_record("candidates is missing, or no list");
  if (candidates->size() > kQueryCandidatesMax)
    return bad_record("candidates: " + std::to_string(candidates->size()) + " ids, at most " +
                      std::to_string(kQueryCandidatesMax) + " are allowed");
  FilterCall call;
  BLOOMRING_TRY(take_id(*user, "user", call.user));
  if (scene != json.end() && *scene != "") BLOOMRING_TRY(take_id(*scene, "scene", call.scene));
  call.items.resize(candidates->size());
  for (size_t i = 0; i < call.items.size(); ++i) BLOOMRING_TRY(take_id((*candidates)[i], "candidates", call.items[i]));
  return call;
}

}  // namespace bloomring
