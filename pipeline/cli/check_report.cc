#include "pipeline/cli/check_report.h"

#include <nlohmann/json.hpp>

#include "base/finding.h"
#include "pipeline/cli/output.h"

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

std::string report_json(const CheckReport& report) {
  Json findings = Json::array();
  for (const SetupFinding& finding : findings_of(report.status())) findings.push_back(to_json(finding, "error"));
  for (const std::string& warning : report.warnings) findings.push_back(to_json(finding_of(warning), "warning"));
  Json json = {{"ok", report.status().ok()},
               {"file", report.file},
               {"checked", report.checked},
               {"warnings", report.warnings},
               {"findings", findings}};
  if (report.memory) json["memory"] = memory_json(*report.memory);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string plain_text(const CheckReport& report) {
  std::string text;
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  for (const std::string& part : report.checked) text += part + ": ok\n";
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
  errors_ = Status(code, first ? status.message() : errors_.message() + "\n" + status.message());
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
