#include "pipeline/jobs/letters/replay_position.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

Json time_json(const std::optional<int64_t>& time_ms) { return time_ms ? Json(*time_ms) : Json(nullptr); }

Status bad(const std::string& what) { return corrupt("the position of the replay " + what); }

// False when the value is neither null nor a time.
bool read_time(const Json& json, const char* name, std::optional<int64_t>& time_ms) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  if (found->is_null()) return true;
  if (!found->is_number_integer()) return false;
  time_ms = found->get<int64_t>();
  return true;
}

bool read_part(const Json& json, ReplayPosition::Part& part) {
  const auto is_offset = [](const Json& number) { return number.is_number_integer() && number.get<int64_t>() >= 0; };
  if (!json.is_array() || json.size() != 4 || !std::all_of(json.begin(), json.end(), is_offset)) return false;
  part = {PartitionId(json[0].get<int32_t>()), Offset(json[1].get<int64_t>()), Offset(json[2].get<int64_t>()),
          Offset(json[3].get<int64_t>())};
  return part.from <= part.next && part.next <= part.to;
}

}  // namespace

uint64_t ReplayPosition::total() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += static_cast<uint64_t>(part.to.value - part.from.value);
  return sum;
}

uint64_t ReplayPosition::done() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += static_cast<uint64_t>(part.next.value - part.from.value);
  return sum;
}

std::string encode_position(const ReplayPosition& position) {
  Json parts = Json::array();
  for (const ReplayPosition::Part& part : position.parts)
    parts.push_back({part.partition.value, part.from.value, part.next.value, part.to.value});
  return Json{{"v", 1},
              {"since_ms", time_json(position.since_ms)},
              {"until_ms", time_json(position.until_ms)},
              {"partitions", std::move(parts)}}
      .dump();
}

Result<ReplayPosition> decode_position(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.size() != 4) return bad("is no object of four fields");
  if (json.value("v", 0) != 1) return bad("is of another version");
  ReplayPosition position;
  if (!read_time(json, "since_ms", position.since_ms) || !read_time(json, "until_ms", position.until_ms))
    return bad("has no times");
  if (!json.contains("partitions") || !json["partitions"].is_array()) return bad("has no partitions");
  for (const Json& one : json["partitions"]) {
    ReplayPosition::Part part;
    if (!read_part(one, part)) return bad("has a partition that is none: " + one.dump());
    position.parts.push_back(part);
  }
  return position;
}

Result<RangesLeft> ranges_left(ReplayPosition& position, const std::vector<LetterRange>& held) {
  RangesLeft left;
  for (ReplayPosition::Part& part : position.parts) {
    const auto log = std::ranges::find(held, part.partition, &LetterRange::partition);
    if (log == held.end() || log->to < part.to) {
      return invalid("partition " + std::to_string(part.partition.value) + " ends before offset " +
                     std::to_string(part.to.value) +
                     ", where this replay ends: the topic was made again since the replay was begun. Begin another one "
                     "under another --name");
    }
    const Offset next = std::clamp(log->from, part.next, part.to);
    left.lost += static_cast<uint64_t>(next.value - part.next.value);
    part.next = next;
    left.ranges.push_back({part.partition, next, part.to});
  }
  return left;
}

}  // namespace bloomring
