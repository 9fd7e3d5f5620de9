#include "pipeline/topics/retention_need.h"

#include <charconv>
#include <optional>

#include "pipeline/settings/memory_plan.h"

namespace bloomring {

namespace {

// Of a play in user-events, compressed (bench/RESULTS.md).
constexpr int64_t kBytesPerPlay = 13;

// Its own hour, the hour in which a lapped slot is drained, and one for merging.
constexpr int64_t kHoursBesideTheLap = 3;

// The bound of a key; nothing for -1 (no bound) or a missing key.
std::optional<int64_t> bound(const std::map<std::string, std::string>& topic, const std::string& key) {
  const auto found = topic.find(key);
  int64_t value = -1;
  if (found == topic.end()) return std::nullopt;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value < 0 ? std::nullopt : std::optional(value);
}

std::string hours_text(int64_t ms) {
  if (ms % 3'600'000 == 0) return std::to_string(ms / 3'600'000) + " h";
  return std::to_string(ms / 1000) + " s";
}

std::string arithmetic(const RingSettings& ring) {
  return std::to_string(ring.slots) + " slots of a lap and " + std::to_string(kHoursBesideTheLap) + " more, " +
         std::to_string(ring.slot_seconds) + " s each, make " + hours_text(retention_need_ms(ring));
}

}  // namespace

int64_t retention_need_ms(const RingSettings& ring) { return ring.lap_ms() + kHoursBesideTheLap * ring.slot_ms(); }

std::vector<std::string> check_retention(const std::map<std::string, std::string>& topic, const RingSettings& ring) {
  std::vector<std::string> found;
  const int64_t need_ms = retention_need_ms(ring);
  if (const auto ms = bound(topic, "retention.ms"); ms && *ms < need_ms) {
    found.push_back("retention.ms is " + std::to_string(*ms) + " (" + hours_text(*ms) +
                    "), shorter than the ring needs: " + arithmetic(ring) +
                    ". Events could leave the log before they are merged; lengthen it with kafka-configs");
  }
  if (const auto bytes = bound(topic, "retention.bytes")) {
    const int64_t per_second = *bytes * 1000 / need_ms;
    found.push_back("retention.bytes is " + std::to_string(*bytes) + " (" + bytes_text(static_cast<uint64_t>(*bytes)) +
                    " a partition): it holds what the ring needs (" + arithmetic(ring) +
                    ") only while a partition gets less than " + std::to_string(per_second) +
                    " bytes a second, about " + std::to_string(per_second / kBytesPerPlay) +
                    " plays. Set it to -1 and bound the log by time");
  }
  return found;
}

}  // namespace bloomring
