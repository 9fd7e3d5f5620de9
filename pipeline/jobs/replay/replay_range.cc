#include "pipeline/jobs/replay/replay_range.h"

#include <absl/time/time.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace bloomring {

namespace {

using Json = nlohmann::json;

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status bad_bound(std::string_view flag, const std::string& text, const std::string& why) {
  return invalid(std::string(flag) + " '" + text + "': " + why +
                 "; it must be a time as 2026-10-01T00:00:00Z, Unix milliseconds, or offsets as 0=1200,1=900");
}

Result<ReplayBound> parse_offsets(std::string_view flag, const std::string& text) {
  ReplayBound bound;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view pair = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return bad_bound(flag, text, "'" + std::string(pair) + "' has no =");
    const auto partition = number_in(pair.substr(0, equals)), offset = number_in(pair.substr(equals + 1));
    if (!partition || !offset || *partition < 0 || *partition > INT32_MAX || *offset < 0)
      return bad_bound(flag, text, "'" + std::string(pair) + "' is no partition and offset");
    if (!bound.offsets.emplace(static_cast<int32_t>(*partition), Offset(*offset)).second)
      return bad_bound(flag, text, "partition " + std::to_string(*partition) + " is there twice");
  }
  return bound;
}

std::string in_log(const LogEdges& log) {
  return "the log has offsets from " + std::to_string(log.start.value) + " to " + std::to_string(log.end.value);
}

// The typed offset of the partition; nothing when others have one and it has none.
Result<std::optional<Offset>> typed_offset(const kafka::TopicPartition& at, const LogEdges& log,
                                           const ReplayBound& bound, const char* flag) {
  const auto found = bound.offsets.find(at.partition.value);
  if (found == bound.offsets.end()) return std::optional<Offset>();
  if (found->second >= log.start && found->second <= log.end) return std::optional(found->second);
  const bool gone = found->second < log.start;
  return invalid(std::string(flag) + ": offset " + std::to_string(found->second.value) + " of " +
                 kafka::to_string(at) + (gone ? " is gone, by retention: " : " is not there yet: ") + in_log(log));
}

}  // namespace

std::string encode_parts(const ReplayParts& parts) {
  Json list = Json::array();
  for (const ReplayPart& part : parts) {
    list.push_back(Json::array({part.at.topic, part.at.partition.value, part.from.value, part.until.value,
                                part.next.value, part.scan_to.value}));
  }
  return Json{{"parts", list}}.dump();
}

Result<ReplayParts> decode_parts(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.size() != 1 || !json.contains("parts") || !json["parts"].is_array())
    return corrupt("the position of the replay cannot be read");
  ReplayParts parts;
  std::set<kafka::TopicPartition> seen;
  for (const Json& entry : json["parts"]) {
    if (!entry.is_array() || entry.size() != 6 || !entry[0].is_string() ||
        !std::all_of(entry.begin() + 1, entry.end(), [](const Json& number) { return number.is_number_unsigned(); }))
      return corrupt("the position of the replay cannot be read");
    ReplayPart part{{entry[0].get<std::string>(), PartitionId(entry[1].get<int32_t>())},
                    Offset(entry[2].get<int64_t>()),
                    Offset(entry[3].get<int64_t>()),
                    Offset(entry[4].get<int64_t>()),
                    Offset(entry[5].get<int64_t>())};
    const bool ascending = part.from.value >= 0 && part.from <= part.next && part.next <= part.until &&
                           part.until <= part.scan_to;
    if (!ascending || !seen.insert(part.at).second)
      return corrupt("the position of the replay makes no sense for " + kafka::to_string(part.at));
    parts.push_back(std::move(part));
  }
  return parts;
}

ReplayProgress progress_of(const ReplayParts& parts) {
  ReplayProgress progress;
  for (const ReplayPart& part : parts) {
    progress.done += static_cast<uint64_t>(part.next.value - part.from.value);
    progress.total += static_cast<uint64_t>(part.until.value - part.from.value);
  }
  return progress;
}

Result<ReplayBound> parse_bound(std::string_view flag, const std::string& text) {
  ReplayBound bound;
  if (text.empty()) return bound;
  if (text.find('=') != std::string::npos) return parse_offsets(flag, text);
  if (const auto number = number_in(text)) {
    if (*number < 0) return bad_bound(flag, text, "it is negative");
    bound.time_ms = *number;
    return bound;
  }
  absl::Time time;
  std::string why;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &why)) return bad_bound(flag, text, why);
  bound.time_ms = absl::ToUnixMillis(time);
  return bound;
}

Result<std::optional<ReplayPart>> part_of(const kafka::TopicPartition& at, const LogEdges& log, const ReplayBound& from,
                                          const ReplayBound& until) {
  Offset first = log.start, last = log.end;
  if (from.time_ms) first = log.from_time.value_or(log.end);
  if (until.time_ms) last = log.until_time.value_or(log.end);
  if (!from.offsets.empty()) {
    BLOOMRING_TRY_ASSIGN(const auto typed, typed_offset(at, log, from, "--from"));
    if (!typed) return std::optional<ReplayPart>();
    first = *typed;
  }
  if (!until.offsets.empty()) {
    BLOOMRING_TRY_ASSIGN(const auto typed, typed_offset(at, log, until, "--until"));
    if (!typed) return std::optional<ReplayPart>();
    last = *typed;
  }
  if (first >= log.end) return std::optional<ReplayPart>();
  return std::optional(ReplayPart{at, first, std::max(first, last), first, log.end});
}

ReplayPart scanned_part(const kafka::TopicPartition& at, const LogEdges& log) {
  return {at, log.start, log.start, log.start, log.end};
}

Status check_still_there(const ReplayPart& part, const LogEdges& log) {
  if (part.next == part.until) return {};
  if (part.next < log.start) {
    return fatal(kafka::to_string(part.at) + ": " + std::to_string(std::min(log.start, part.until).value -
                                                                   part.next.value) +
                 " records from offset " + std::to_string(part.next.value) +
                 " on were not replayed yet and are gone, by retention: " + in_log(log) +
                 ". To replay what is left, start a job of another --name");
  }
  if (part.until > log.end) {
    return fatal(kafka::to_string(part.at) + ": the replay goes up to offset " + std::to_string(part.until.value) +
                 ", and " + in_log(log) + ": the topic was made again. Start a job of another --name");
  }
  return {};
}

}  // namespace bloomring
