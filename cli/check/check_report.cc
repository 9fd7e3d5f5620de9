#include "cli/check/check_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/config/finding.h"
#include "base/words.h"
#include "cli/output.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const SetupFinding& finding, const char* severity) {
  return {{"severity", severity},     {"key", finding.key},       {"value", finding.value},
          {"place", finding.place},   {"reason", finding.reason}, {"way_out", finding.way_out}};
}

Json memory_json(const MemoryPlan& plan) {
  Json parts = Json::object();
  for (const MemoryPart& part : plan.parts()) parts[std::string(part.name)] = part.bytes;
  return {{"limit", plan.total()}, {"parts", parts}};
}

Json to_json(const PlaysRead& plays) {
  return {{"topic", plays.topic},
          {"read", plays.read},
          {"plays", plays.plays},
          {"serves_and_forgets", plays.serves_and_forgets},
          {"ignored_kind", plays.ignored_kind},
          {"short_view", plays.short_view},
          {"refused", plays.refused}};
}

// Each line once, in order of first appearance.
std::vector<std::string> once(const std::vector<std::string>& lines) {
  std::vector<std::string> kept;
  for (const std::string& line : lines) {
    if (std::ranges::find(kept, line) == kept.end()) kept.push_back(line);
  }
  return kept;
}

std::string report_json(const CheckReport& report) {
  Json findings = Json::array();
  for (const SetupFinding& finding : findings_of(report.status())) findings.push_back(to_json(finding, "error"));
  for (const std::string& warning : once(report.warnings)) findings.push_back(to_json(finding_of(warning), "warning"));
  Json json = {{"ok", report.status().ok()},
               {"file", report.file},
               {"checked", report.checked},
               {"warnings", once(report.warnings)},
               {"findings", findings}};
  if (!report.notes.empty()) json["notes"] = report.notes;
  if (!report.plays.empty()) {
    json["plays"] = Json::array();
    for (const PlaysRead& plays : report.plays) json["plays"].push_back(to_json(plays));
  }
  for (const SettingSource& from : report.sources)
    json["sources"].push_back({{"key", from.key}, {"value", from.value}, {"source", from.source}});
  if (report.memory) json["memory"] = memory_json(*report.memory);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string plain_text(const CheckReport& report) {
  std::string text;
  const size_t errors = findings_of(report.status()).size();
  if (errors > 0) {
    text += "not ok: " + std::to_string(errors) + (errors == 1 ? " error" : " errors") + ", on standard error\n";
  }
  for (const std::string& warning : once(report.warnings)) text += "warning: " + warning + "\n";
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  for (const std::string& part : report.checked) text += part + ": ok\n";
  for (const PlaysRead& plays : report.plays) text += "plays of " + to_string(plays) + "\n";
  for (const SettingSource& from : report.sources) text += from.key + ": " + from.value + ", " + from.source + "\n";
  if (!report.memory) return text;
  text += "memory: " + bytes_text(report.memory->total()) + "\n";
  for (const MemoryPart& part : report.memory->parts())
    text += "  " + std::string(part.name) + ": " + bytes_text(part.bytes) + "\n";
  return text;
}

}  // namespace

bool CheckReport::succeeds(const Status& status) {
  if (status.ok()) return true;
  const bool first = errors_.ok();
  const Code code = first || status.code() == Code::kInvalid ? status.code() : errors_.code();
  const std::string all = first ? status.message() : errors_.message() + "\n" + status.message();
  errors_ = Status(code, joined(once(lines_of(all)), "\n"));
  return false;
}

bool CheckReport::passes(const std::string& part, const Status& status) {
  if (!succeeds(status)) return false;
  checked.push_back(part);
  return true;
}

void CheckReport::takes(const std::string& part, const StartFindings& found) {
  passes(part, found.status());
  warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
}

int print(const CheckReport& check, OutputFormat output) {
  print(output == OutputFormat::kJson ? report_json(check) : plain_text(check));
  return finish_output(report(check.status()));
}

}  // namespace bloomring::cli
