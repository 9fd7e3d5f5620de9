#include "pipeline/jobs/job_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

// {"written":5,"refused":{"too_large":1}}
Json counts_json(const JobCounts& counts) {
  Json json = Json::object();
  for (const JobCount& count : counts) {
    if (count.reason.empty()) {
      json[count.name] = count.value;
    } else {
      json[count.name][count.reason] = count.value;
    }
  }
  return json;
}

Json record_json(const JobRecord& record) {
  Json json = {{"job", record.name},
               {"kind", record.kind},
               {"state", job_state_name(record.state)},
               {"done", record.progress.done},
               {"total", record.progress.total},
               {"unit", record.unit},
               {"rate", record.rate},
               {"rate_unit", record.rate_unit},
               {"share", record.share},
               {"started_ms", record.started_ms},
               {"updated_ms", record.updated_ms}};
  if (!record.slowed_by.empty()) json["slowed_by"] = record.slowed_by;
  if (!record.error.empty()) json["error"] = record.error;
  Json& parameters = json["parameters"] = Json::object();
  for (const JobParameter& parameter : record.parameters) parameters[parameter.name] = parameter.value;
  json["counts"] = counts_json(record.counts);
  return json;
}

std::string duration_text(double seconds) {
  char text[48];
  if (seconds < 120) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else if (seconds < 7'200) {
    std::snprintf(text, sizeof text, "%.0f minutes", seconds / 60);
  } else if (seconds < 172'800) {
    std::snprintf(text, sizeof text, "%.1f hours", seconds / 3'600);
  } else {
    std::snprintf(text, sizeof text, "%.1f days", seconds / 86'400);
  }
  return text;
}

std::string number_text(double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

std::string progress_text(const JobRecord& record) {
  std::string text = std::to_string(record.progress.done);
  if (record.progress.total > 0) text += " of " + std::to_string(record.progress.total);
  return text + " " + record.unit;
}

// The time that the rest takes at the rate; nothing where the rate counts something else.
std::optional<double> planned_seconds(const JobPreview& preview, const Job& job) {
  if (job.unit() != job.rate_unit() || preview.plan.total == 0) return std::nullopt;
  const auto total = static_cast<double>(preview.plan.total);
  const double done = preview.before ? static_cast<double>(preview.before->progress.done) : 0;
  return std::max(total - done, 0.0) / preview.rate;
}

}  // namespace

std::string plan_json(const std::string& name, const Job& job, const JobPreview& preview) {
  Json json = {{"executed", false},
               {"job", name},
               {"kind", job.kind()},
               {"total", preview.plan.total},
               {"unit", job.unit()},
               {"rate", preview.rate},
               {"rate_unit", job.rate_unit()}};
  if (const auto seconds = planned_seconds(preview, job)) json["seconds"] = std::round(*seconds);
  Json& facts = json["facts"] = Json::object();
  for (const JobPlan::Fact& fact : preview.plan.facts) facts[fact.name] = fact.text;
  json["touches"] = preview.plan.touches;
  json["warnings"] = preview.plan.warnings;
  if (preview.before) json["before"] = record_json(*preview.before);
  return dump(json);
}

std::string report_json(const JobRecord& record) {
  Json json = {{"executed", true}};
  json.update(record_json(record));
  return dump(json);
}

std::string list_json(const JobBook& book, int64_t now_ms) {
  Json jobs = Json::array();
  for (const auto& [name, record] : book.jobs()) {
    Json json = record_json(record);
    json["silent"] = record.state == JobState::kRunning && now_ms - record.updated_ms > kJobSilentMs;
    jobs.push_back(std::move(json));
  }
  return dump({{"jobs", std::move(jobs)}, {"unreadable", book.unreadable()}});
}

std::string plan_text(const std::string& name, const Job& job, const JobPreview& preview) {
  const std::string unit(job.unit()), rate_unit(job.rate_unit());
  std::string text = "job " + name + ", a " + std::string(job.kind()) + ": " +
                     std::to_string(preview.plan.total) + " " + unit + ", at most " + number_text(preview.rate) + " " +
                     rate_unit + " a second";
  if (const auto seconds = planned_seconds(preview, job)) text += ", " + duration_text(*seconds);
  text += "\n";
  for (const JobPlan::Fact& fact : preview.plan.facts) text += "  " + fact.name + ": " + fact.text + "\n";
  for (const std::string& touched : preview.plan.touches) text += "  it " + touched + "\n";
  if (preview.before) {
    text += "  started before: " + std::string(job_state_name(preview.before->state)) + " at " +
            progress_text(*preview.before) + "\n";
  }
  for (const std::string& warning : preview.plan.warnings) text += "  warning: " + warning + "\n";
  return text + "nothing was done; --execute starts it\n";
}

std::string report_text(const JobRecord& record) {
  std::string text = "job " + record.name + ", a " + record.kind + ": " + std::string(job_state_name(record.state)) +
                     ", " + progress_text(record) + "\n";
  if (!record.error.empty()) text += "  error: " + record.error + "\n";
  for (const JobCount& count : record.counts) {
    text += "  " + count.name + (count.reason.empty() ? "" : ", " + count.reason) + ": " +
            std::to_string(count.value) + "\n";
  }
  return text;
}

std::string list_text(const JobBook& book, int64_t now_ms) {
  std::vector<std::array<std::string, 5>> rows = {{"job", "kind", "state", "done", "rate"}};
  for (const auto& [name, record] : book.jobs()) {
    std::string state(job_state_name(record.state));
    const int64_t age_ms = now_ms - record.updated_ms;
    if (record.state == JobState::kRunning && age_ms > kJobSilentMs)
      state += ", silent for " + duration_text(static_cast<double>(age_ms) / 1e3);
    std::string rate = number_text(record.rate) + " " + record.rate_unit + "/s";
    if (record.state == JobState::kRunning && record.share < 1)
      rate += ", slowed to " + number_text(std::round(record.share * 1'000) / 10) + " %";
    rows.push_back({name, record.kind, state, progress_text(record), rate});
  }
  std::array<size_t, 5> widths = {};
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) text += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    text += row.back() + "\n";
  }
  if (book.jobs().empty()) text = "no jobs\n";
  if (book.unreadable() > 0) {
    text += std::to_string(book.unreadable()) + " records cannot be read, the first: " + book.first_unreadable() + "\n";
  }
  return text;
}

std::optional<int64_t> seconds_left(const JobProgress& progress, double done_per_second) {
  constexpr double kSecondsMax = 1e9;  // Thirty years.
  if (progress.total < progress.done || progress.total == 0 || done_per_second <= 0) return std::nullopt;
  const double seconds = std::ceil(static_cast<double>(progress.total - progress.done) / done_per_second);
  return seconds < kSecondsMax ? std::optional(static_cast<int64_t>(seconds)) : std::nullopt;
}

}  // namespace bloomring
