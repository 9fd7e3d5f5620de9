#include "cli/dlq/letter_json.h"

#include "cli/dlq/safe_text.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

Json row_json(const LetterTable::Row& row) {
  return {{"letters", row.letters}, {"bytes", row.bytes},       {"first_ms", row.first_ms},
          {"last_ms", row.last_ms}, {"cut", row.cut},           {"replayed", row.replayed}};
}

std::string partitions_text(size_t partitions) {
  const std::string more = partitions == LetterTable::kPartitionsMax ? "at least " : "";
  return more + std::to_string(partitions) + (partitions == 1 ? " partition" : " partitions");
}

std::string sources_text(const LetterTable::Row& row) {
  std::string text;
  for (const auto& [topic, source] : row.sources) {
    text += (text.empty() ? "" : ", ") + topic + " (" + partitions_text(source.partitions.size()) + ")";
  }
  if (row.other_sources > 0) text += ", further topics (" + std::to_string(row.other_sources) + " letters)";
  return text;
}

// The text itself where JSON can hold it, otherwise escaped under another name.
void add_bytes(Json& json, const std::string& name, std::string_view bytes) {
  const std::string_view shown = first_bytes(bytes, kShownBytesMax);
  if (is_utf8(shown)) {
    json[name] = shown;
  } else {
    json[name + "_escaped"] = safe_text(shown);
  }
  if (shown.size() < bytes.size()) json[name + "_shown_bytes"] = shown.size();
}

Json headers_json(const RecordHeaders& headers) {
  Json list = Json::array();
  for (const auto& [name, value] : headers) {
    Json one;
    add_bytes(one, "name", name);
    add_bytes(one, "value", value);
    list.push_back(std::move(one));
  }
  return list;
}

// The verdict of ingest on the record now.
void add_play(Json& json, const Letter& letter, PlayParser& parser, int64_t now_ms) {
  if (!letter.of_a_play()) {
    json["now"] = "no play: the record is of a topic of bloomring's own";
    return;
  }
  if (letter.value_bytes) {
    json["now"] = "not known: the value is cut";
    return;
  }
  Play play;
  const Refusal refusal = parser.parse(letter.value, now_ms, play);
  if (refusal != Refusal::kNone) {
    json["now"] = "refused";
    json["now_reason"] = refusal_name(refusal);
    json["now_message"] = parser.detail();
    return;
  }
  json["now"] = play.skip == Skip::kNone ? "accepted" : "ignored";
  if (play.skip != Skip::kNone) json["now_reason"] = skip_name(play.skip);
  if (play.skip == Skip::kIgnoredKind) return;  // Nothing else of it was read.
  json["play"] = {{"event", event_name(play.kind)}, {"user", play.user},       {"item", play.item},
                  {"scene", play.scene},           {"time_ms", play.time_ms}};
}

}  // namespace

Json table_json(const LetterTable& table) {
  Json reasons = Json::array();
  for (const auto& [reason, row] : table.rows()) {
    Json one = {{"reason", reason}};
    one.update(row_json(row));
    one["sources"] = Json::array();
    for (const auto& [topic, source] : row.sources) {
      one["sources"].push_back(
          {{"topic", topic}, {"partitions", source.partitions.size()}, {"letters", source.letters}});
    }
    if (row.other_sources > 0) one["other_sources"] = row.other_sources;
    reasons.push_back(std::move(one));
  }
  Json json = {{"letters", table.letters()}, {"reasons", std::move(reasons)}, {"foreign", table.foreign().letters}};
  if (table.foreign().letters > 0) json["foreign_bytes"] = table.foreign().bytes;
  return json;
}

Json table_rows(const LetterTable& table) {
  Json reasons = Json::array();
  for (const auto& [reason, row] : table.rows()) {
    Json one = {{"reason", reason}};
    one.update(row_json(row));
    one["from"] = sources_text(row);
    reasons.push_back(std::move(one));
  }
  return {{"letters", table.letters()}, {"foreign", table.foreign().letters}, {"reasons", std::move(reasons)}};
}

Json record_json(const DeadRecord& record, PlayParser& parser, int64_t now_ms) {
  Json json = {{"at", std::to_string(record.partition.value) + ":" + std::to_string(record.offset.value)},
               {"written_ms", record.log_time_ms}};
  if (!record.letter) {
    json["foreign"] = true;
    json["bytes"] = record.bytes;
    return json;
  }
  const Letter& letter = *record.letter;
  json["reason"] = letter.reason;
  json["message"] = letter.message;
  json["stage"] = letter.stage;
  json["source"] = {{"topic", letter.topic}, {"partition", letter.partition.value}, {"offset", letter.offset.value}};
  if (letter.log_time_ms >= 0) json["source"]["time_ms"] = letter.log_time_ms;
  json["replays"] = letter.replays;
  json["cut"] = letter.cut();
  if (letter.key_bytes) json["key_bytes"] = *letter.key_bytes;
  if (letter.headers_bytes) json["headers_bytes"] = *letter.headers_bytes;
  add_play(json, letter, parser, now_ms);
  if (!letter.headers.empty()) json["headers"] = headers_json(letter.headers);
  add_bytes(json, "key", letter.key);
  json["value_bytes"] = letter.whole_value_bytes();
  add_bytes(json, "value", letter.value);
  return json;
}

std::string json_line(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"; }

}  // namespace bloomring::cli
