#include "cli/plan/plan_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/words.h"
#include "pipeline/plan/plan_constants.h"
#include "pipeline/settings/memory_plan.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "1,234,567".
std::string with_commas(double value) {
  std::string digits = formatted("%.0f", value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Three digits, or all of a whole number below a million.
std::string number_text(double value) {
  if (value >= 1e9) return formatted("%.3g", value / 1e9) + " billion";
  if (value >= 1e6) return formatted("%.3g", value / 1e6) + " million";
  if (value >= 1000) return with_commas(value);
  if (value == std::round(value)) return formatted("%.0f", value);
  return formatted("%.3g", value);
}

std::string seconds_text(double seconds) {
  if (seconds >= 7200) return formatted("%.3g h", seconds / 3600);
  if (seconds >= 120) return formatted("%.3g min", seconds / 60);
  return formatted("%.3g s", seconds);
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

// "bench/RESULTS.md, Rebuild", "assumed".
std::string source_text(const PlanConstant& constant) {
  if (constant.assumed()) return "assumed";
  std::string text = "bench/RESULTS.md: " + std::string(constant.sources[0].section);
  const std::string_view second = constant.sources[1].section;
  if (!second.empty() && second != constant.sources[0].section) text += "; " + std::string(second);
  return text;
}

std::string store_text(const PlanInput& input) {
  return input.on_servers ? "on servers of the Redis protocol" : "in an embedded store";
}

std::string head_text(const PlanInput& input) {
  const FilterSettings& filter = input.settings.filter;
  return "A plan for " + number_text(input.users) + " users with " + number_text(plays_per_day(input)) +
         " plays a day, filters " + store_text(input) + ",\nkept for " + std::to_string(filter.retention_periods) +
         " periods after their own, on machines of " + std::to_string(input.machine.cores) + " cores, " +
         bytes_text(static_cast<uint64_t>(input.machine.memory_bytes)) + " of memory and " +
         bytes_text(static_cast<uint64_t>(input.machine.disk_bytes)) + " of disk.\n";
}

Json range_json(const PlanRange& range) { return {{"low", range.low}, {"mid", range.mid}, {"high", range.high}}; }

Json input_json(const PlanInput& input) {
  const Settings& settings = input.settings;
  return {{"users", input.users},
          {"plays_per_day", plays_per_day(input)},
          {"plays_per_user", input.shape.text()},
          {"id_bytes", input.id_bytes},
          {"store", input.on_servers ? "redis" : "embedded"},
          {"partitions", settings.topics.partitions},
          {"replicas", input.replicas},
          {"retention_periods", settings.filter.retention_periods},
          {"periods_read", settings.filter.periods_read},
          {"slots", settings.ring.slots},
          {"slot_seconds", settings.ring.slot_seconds},
          {"peak", input.peak},
          {"repeats", input.repeats},
          {"plays_per_session", input.plays_per_session},
          {"plays_per_call", input.plays_per_call},
          {"serves_per_play", input.serves_per_play},
          {"candidates", input.candidates},
          {"core_share", input.core_share},
          {"spare_machines", input.spare_machines},
          {"server_copies", input.server_copies},
          {"machine_cores", input.machine.cores},
          {"machine_memory_bytes", input.machine.memory_bytes},
          {"machine_disk_bytes", input.machine.disk_bytes}};
}

}  // namespace

std::string figure_text(double value, std::string_view unit) {
  if (unit == "bytes") return value < 1000 ? number_text(value) + " bytes" : bytes_text(static_cast<uint64_t>(value));
  if (unit == "bytes/s") return bytes_text(static_cast<uint64_t>(value)) + "/s";
  if (unit == "s") return seconds_text(value);
  if (unit == "times") return number_text(value < 10 ? std::round(value * 10) / 10 : std::round(value)) + " times";
  if (unit.empty()) return number_text(value);
  return number_text(value) + " " + std::string(unit);
}

std::string range_text(const PlanRange& figure, std::string_view unit) {
  const std::string low = figure_text(figure.low, unit), mid = figure_text(figure.mid, unit);
  const std::string high = figure_text(figure.high, unit);
  return low == high ? mid : mid + " (" + low + " to " + high + ")";
}

std::string plan_text(const PlanInput& input, const PlanResult& plan) {
  constexpr size_t kNameWidth = 54, kFigureWidth = 46;
  std::string text = head_text(input);
  std::string_view group;
  for (const PlanRow& row : plan.rows) {
    if (row.group != group)
      text += "\n" + padded(std::string(row.group), kNameWidth) + padded("figure", kFigureWidth) + "from\n";
    group = row.group;
    text += padded("  " + row.name, kNameWidth) + padded(range_text(row.figure, row.unit), kFigureWidth) +
            joined(row.from) + "\n";
  }
  text += "\n" + padded("constants", kNameWidth + 4) + padded("value", kFigureWidth - 4) + "source\n";
  for (const PlanConstant* constant : plan_constants())
    text += padded("  " + std::string(constant->name), kNameWidth + 4) +
            padded(range_text(constant->value, constant->unit), kFigureWidth - 4) + source_text(*constant) + " (" +
            std::string(constant->reason) + ")\n";
  text += plan.findings.empty() ? "\nIt fits.\n" : "\nIt does not fit:\n";
  for (const std::string& finding : plan.findings) text += "- " + finding + "\n";
  return text;
}

std::string plan_json(const PlanInput& input, const PlanResult& plan) {
  Json rows = Json::array(), constants = Json::array();
  for (const PlanRow& row : plan.rows) {
    Json json{{"group", row.group}, {"name", row.name}};
    json.update(range_json(row.figure));
    json["unit"] = row.unit;
    json["from"] = row.from;
    rows.push_back(std::move(json));
  }
  for (const PlanConstant* constant : plan_constants()) {
    Json json{{"name", constant->name}};
    json.update(range_json(constant->value));
    json["unit"] = constant->unit;
    json["source"] = source_text(*constant);
    json["reason"] = constant->reason;
    constants.push_back(std::move(json));
  }
  return Json{{"input", input_json(input)},
              {"fits", plan.findings.empty()},
              {"findings", plan.findings},
              {"rows", rows},
              {"constants", constants}}
             .dump() +
         "\n";
}

}  // namespace bloomring::cli
