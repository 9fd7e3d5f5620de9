#include "pipeline/jobs/live_pressure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace bloomring {

namespace {

struct Bounds {
  double high;
  double stop;
};
constexpr Bounds kBehind = {2, 10}, kMergeBehind = {60, 600};
constexpr double kStallShareHigh = 0.1;

// The sum of a metric over its labels; 0 where it is missing.
double sum_of(std::string_view page, std::string_view name) {
  double sum = 0;
  for (size_t at = 0; at < page.size();) {
    const size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) continue;
    const char next = line.size() > name.size() ? line[name.size()] : '\0';
    if (next != ' ' && next != '{') continue;
    const size_t space = line.rfind(' ');
    sum += std::strtod(std::string(line.substr(space + 1)).c_str(), nullptr);
  }
  return sum;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

}  // namespace

Result<ProcessSigns> read_signs(std::string_view status_json, std::string_view metrics) {
  const auto json = nlohmann::json::parse(status_json, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("stages") || !json["stages"].is_array())
    return bad_record("its /status is not that of a process of bloomring");
  ProcessSigns signs;
  for (const auto& stage : json["stages"]) {
    if (!stage.is_object() || !stage.contains("stage") || !stage["stage"].is_string()) continue;
    double& behind = signs.behind_seconds[stage["stage"].get<std::string>()];
    if (!stage.contains("partitions") || !stage["partitions"].is_array()) continue;
    for (const auto& partition : stage["partitions"]) {
      if (!partition.is_object() || !partition.contains("behind_seconds")) continue;
      if (partition["behind_seconds"].is_number()) behind = std::max(behind, partition["behind_seconds"].get<double>());
    }
  }
  signs.over_bound_partitions = sum_of(metrics, "bloomring_recent_over_bound_partitions");
  signs.stalled_tasks = sum_of(metrics, "bloomring_stalled_tasks");
  signs.write_stall_seconds = sum_of(metrics, "bloomring_rocksdb_stall_seconds_total");
  return signs;
}

LivePressure pressure_of(const ProcessSigns& now, const std::optional<ProcessSigns>& before, double seconds) {
  LivePressure worst;
  for (const auto& [stage, behind] : now.behind_seconds) {
    const Bounds& bounds = stage == "merge" ? kMergeBehind : kBehind;
    if (behind > bounds.high) {
      worst.add(behind > bounds.stop ? Pressure::kStop : Pressure::kHigh,
                stage + " is " + seconds_text(behind) + " behind");
    }
  }
  if (now.over_bound_partitions > 0)
    worst.add(Pressure::kStop, "recent plays that are not merged exceed their share of memory");
  if (now.stalled_tasks > 0) worst.add(Pressure::kStop, "tasks make no step");
  // A process that was started again counts from 0.
  const double stalled = before ? std::max(now.write_stall_seconds - before->write_stall_seconds, 0.0) : 0;
  if (seconds > 0 && stalled / seconds > kStallShareHigh)
    worst.add(Pressure::kHigh, "writes to RocksDB wait " + seconds_text(stalled) + " of " + seconds_text(seconds));
  return worst;
}

}  // namespace bloomring
