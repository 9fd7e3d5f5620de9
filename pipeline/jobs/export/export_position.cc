#include "pipeline/jobs/export/export_position.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace bloomring {

namespace {

using Json = nlohmann::json;

bool is_part(const Json& entry) {
  return entry.is_array() && entry.size() == 5 && entry[0].is_string() && entry[1].is_number_unsigned() &&
         entry[2].is_number_unsigned() && entry[3].is_number_unsigned() &&
         (entry[4].is_null() || entry[4].is_number_unsigned());
}

}  // namespace

std::string encode_export(const ExportParts& parts) {
  Json list = Json::array();
  for (const ExportPart& part : parts) {
    list.push_back(Json::array({part.at.topic, part.at.partition.value, part.from.value, part.next.value,
                                part.until ? Json(part.until->value) : Json()}));
  }
  return Json{{"parts", list}}.dump();
}

Result<ExportParts> decode_export(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.size() != 1 || !json.contains("parts") || !json["parts"].is_array())
    return corrupt("the position of the export cannot be read");
  ExportParts parts;
  std::set<kafka::TopicPartition> seen;
  for (const Json& entry : json["parts"]) {
    if (!is_part(entry)) return corrupt("the position of the export cannot be read");
    ExportPart part{{entry[0].get<std::string>(), PartitionId(entry[1].get<int32_t>())},
                    Offset(entry[2].get<int64_t>()),
                    Offset(entry[3].get<int64_t>())};
    if (!entry[4].is_null()) part.until = Offset(entry[4].get<int64_t>());
    if (part.from.value < 0 || part.next < part.from || !seen.insert(part.at).second)
      return corrupt("the position of the export makes no sense for " + kafka::to_string(part.at));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<ExportEnd> parse_export_end(const std::string& text) {
  if (text.empty()) return ExportEnd{};
  if (text == "now") return ExportEnd{.follows = false};
  BLOOMRING_TRY_ASSIGN(ReplayBound bound, parse_bound("--until", text));
  return ExportEnd{.follows = false, .bound = std::move(bound)};
}

Result<ExportPart> first_part(const kafka::TopicPartition& at, const LogEdges& log, const ReplayBound& from,
                              const ExportEnd& end) {
  for (const ReplayBound* bound : {&from, &end.bound}) {
    if (bound->offsets.empty() || bound->offsets.contains(at.partition.value)) continue;
    return invalid(std::string(bound == &from ? "--from" : "--until") + " has no offset for " + kafka::to_string(at) +
                   ": name one for each partition, or a time");
  }
  BLOOMRING_TRY_ASSIGN(const std::optional<ReplayPart> part, part_of(at, log, from, end.bound));
  // There is nothing yet from the begin of the range on.
  if (!part) return ExportPart{at, log.end, log.end, end.follows ? std::nullopt : std::optional(log.end)};
  return ExportPart{at, part->from, part->from, end.follows ? std::nullopt : std::optional(part->until)};
}

Status check_followed(const ExportPart& part, const LogEdges& log) {
  if (part.ended()) return {};
  const std::string has = "the log has offsets from " + std::to_string(log.start.value) + " to " +
                          std::to_string(log.end.value);
  if (part.next < log.start) {
    return fatal(kafka::to_string(part.at) + ": " + std::to_string(log.start.value - part.next.value) +
                 " records from offset " + std::to_string(part.next.value) +
                 " on are not in the old store and are gone, by retention: " + has +
                 ". To go on with the rest, start a job of another --name");
  }
  if (part.next > log.end) {
    return fatal(kafka::to_string(part.at) + ": the export is at offset " + std::to_string(part.next.value) + ", and " +
                 has + ": the topic was made again. Start a job of another --name");
  }
  return {};
}

}  // namespace bloomring
