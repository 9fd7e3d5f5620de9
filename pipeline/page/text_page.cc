#include "pipeline/page/text_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipeline/page/page_words.h"
#include "pipeline/page/sparkline.h"
#include "pipeline/status/status_json.h"

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTrendsMax = 16, kRingsMax = 20, kPartitionsMax = 10, kRecentMax = 10, kLineBytes = 300;
// Less is usual: brokers are asked for the ends of logs once a second.
constexpr double kBehindSecondsMin = 2;

const char* state_word(const PartReport& part) {
  if (part.failed) return "failed";
  if (!part.ready) return "not ready";
  return part.reason.empty() ? "ready" : "degraded";
}

// Rows in columns: the first left, the others right but for the last one, which is text and may be empty.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + pad : i + 1 == row.size() ? "  " + row[i] : "  " + pad + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string more(size_t shown, size_t all, const char* what) {
  return all > shown ? "  " + count_text(static_cast<int64_t>(all - shown)) + " more " + what + "\n" : "";
}

std::string head_of(const OpsReport& report) {
  std::string text = "bloomring " + clean(report.instance, 100) + ": " + verdict(report) + "\nversion " +
                     clean(report.version, 40) + ", commit " + clean(report.commit, 40) + ", up " +
                     duration_text(report.now_ms - report.started_ms) + ", " + time_text(report.now_ms) + "\n";
  if (!report.looked_ms) text += "the stages were not asked yet\n";
  if (look_is_old(report))
    text += "OLD: the stages have not answered for " + duration_text(report.now_ms - *report.looked_ms) + "\n";
  for (const PartReport& part : report.parts) {
    if (part.ready && part.reason.empty()) continue;
    text += "  " + clean(part.part, 60) + " " + state_word(part) + ": " + clean(part.reason, kLineBytes) + "\n";
  }
  return text;
}

std::string stages_of(const OpsReport& report) {
  std::vector<std::vector<std::string>> rows = {{"stage", "partitions", "records/s", "lag", "behind s", ""}};
  for (const StageReport& stage : report.stages) {
    const StageSums sums = sums_of(stage.status);
    std::string last = clean(stage.status.address, 100);
    if (stage.status.store)
      last = "store " + clean(stage.status.store->path, 200) + ", " + size_text(stage.status.store->bytes_on_disk);
    rows.push_back({clean(stage.status.stage, 40), count_text(static_cast<int64_t>(sums.partitions)),
                    rate_text(stage.records_per_second), count_text(sums.lag_records),
                    seconds_text(sums.behind_seconds_max), last});
  }
  return "\nSTAGES\n" + columns(rows);
}

std::string trends_of(const OpsReport& report) {
  if (report.trends.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"", "last minute", "least", "most", ""}};
  for (const Trend& trend : report.trends) {
    const auto text = [&](const std::optional<double>& value) {
      return trend.seconds ? delay_text(value) : rate_text(value);
    };
    if (rows.size() > kTrendsMax) break;
    rows.push_back({clean(trend.title, 60), text(trend.last_minute), text(trend.least()), text(trend.most()),
                    spark_text(trend.points)});
  }
  return "\nLAST QUARTER OF AN HOUR\n" + columns(rows) + more(rows.size() - 1, report.trends.size(), "figures");
}

std::string rings_of(const OpsReport& report) {
  const std::vector<PartitionRow> rings = rings_worst_first(report);
  if (rings.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"partition", "merged", "applied", "slots", "unmerged since"}};
  for (const PartitionRow& row : rings) {
    if (rows.size() > kRingsMax) break;
    const RingStatus& ring = *row.partition->ring;
    std::string letters;
    for (const SlotStatus& slot : ring.slots) letters += letter_of(slot.state);
    const auto since = oldest_unmerged_ms(ring);
    rows.push_back({std::to_string(row.partition->at.partition.value),
                    ring.merged ? count_text(ring.merged->value) : "none",
                    ring.applied ? count_text(ring.applied->value) : "-", letters,
                    since ? hour_text(*since) + ", " + duration_text(report.now_ms - *since) + " ago" : ""});
  }
  return "\nRINGS (F filling, S sealed, D draining, M merged, - free; slot 0 first)\n" + columns(rows) +
         more(rows.size() - 1, rings.size(), "rings");
}

std::string partitions_of(const OpsReport& report) {
  std::vector<PartitionRow> behind = worst_first(report);
  std::erase_if(behind, [](const PartitionRow& row) {
    return row.partition->behind_seconds < kBehindSecondsMin && lag_records(*row.partition).value_or(0) == 0;
  });
  if (behind.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"stage", "behind s", "lag", "partition"}};
  for (const PartitionRow& row : behind) {
    if (rows.size() > kPartitionsMax) break;
    const kafka::TopicPartition& at = row.partition->at;
    rows.push_back({clean(row.stage->stage, 40), seconds_text(row.partition->behind_seconds),
                    count_text(lag_records(*row.partition)),
                    clean(at.topic, 100) + "[" + std::to_string(at.partition.value) + "]"});
  }
  return "\nBEHIND\n" + columns(rows) + more(rows.size() - 1, behind.size(), "partitions");
}

std::string work_of(const OpsReport& report) {
  std::string text;
  for (const std::string& job : report.jobs) text += "  " + clean(job, kLineBytes) + "\n";
  if (const size_t count = drains(report).size(); count > 0)
    text += "  " + count_text(static_cast<int64_t>(count)) + (count == 1 ? " drain\n" : " drains\n");
  return text.empty() ? "" : "\nUNDER WAY\n" + text;
}

std::string recent_of(const OpsReport& report) {
  if (report.recent.empty()) return "";
  std::string text = "\nWARNINGS AND ERRORS\n";
  for (size_t i = 0; i < std::min(kRecentMax, report.recent.size()); ++i) {
    const RecentLine& line = report.recent[i];
    text += "  " + clean(line.last, 30) + " " + (line.error ? "error" : "warning") + " " +
            (line.count > 1 ? count_text(static_cast<int64_t>(line.count)) + " times: " : "") +
            clean(line.message, kLineBytes) + (line.fields.empty() ? "" : " ") + clean(line.fields, kLineBytes) + "\n";
  }
  return text + more(kRecentMax, report.recent.size(), "lines");
}

Json parts_json(const OpsReport& report) {
  Json parts = Json::array();
  for (const PartReport& part : report.parts) {
    parts.push_back({{"part", part.part}, {"state", state_word(part)}});
    if (!part.reason.empty()) parts.back()["reason"] = part.reason;
  }
  return parts;
}

// Those of /status, with what this page adds.
Json stages_json(const OpsReport& report) {
  std::vector<StageStatus> status;
  for (const StageReport& stage : report.stages) status.push_back(stage.status);
  Json stages = Json::parse(to_json(status))["stages"];
  for (size_t i = 0; i < report.stages.size(); ++i) {
    const StageSums sums = sums_of(status[i]);
    if (report.stages[i].records_per_second) stages[i]["records_per_second"] = *report.stages[i].records_per_second;
    if (sums.lag_records) stages[i]["lag_records"] = *sums.lag_records;
    stages[i]["behind_seconds_max"] = sums.behind_seconds_max;
  }
  return stages;
}

Json trends_json(const OpsReport& report) {
  Json trends = Json::array();
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  for (const Trend& trend : report.trends) {
    Json json = {{"figure", trend.figure}};
    if (!trend.stage.empty()) json["stage"] = trend.stage;
    json["last_minute"] = number(trend.last_minute);
    json["least"] = number(trend.least());
    json["most"] = number(trend.most());
    json["step_seconds"] = Trends::kStepMs / 1000;
    json["points"] = Json::array();
    for (const auto& point : trend.points) json["points"].push_back(number(point));
    trends.push_back(std::move(json));
  }
  return trends;
}

Json recent_json(const OpsReport& report) {
  Json recent = Json::array();
  for (const RecentLine& line : report.recent) {
    recent.push_back({{"level", line.error ? "error" : "warning"},
                      {"message", line.message},
                      {"fields", line.fields},
                      {"first", line.first},
                      {"last", line.last},
                      {"count", line.count}});
  }
  return recent;
}

}  // namespace

std::string text_page(const OpsReport& report) {
  return head_of(report) + stages_of(report) + trends_of(report) + rings_of(report) + partitions_of(report) +
         work_of(report) + recent_of(report);
}

std::string json_page(const OpsReport& report) {
  Json json = {{"page_version", 1}, {"time", time_text(report.now_ms)}};
  if (report.looked_ms) json["asked"] = time_text(*report.looked_ms);
  json["instance"] = report.instance;
  json["version"] = report.version;
  json["commit"] = report.commit;
  json["up_seconds"] = (report.now_ms - report.started_ms) / 1000;
  json["verdict"] = verdict(report);
  json["ready"] = report.ready;
  json["alive"] = report.alive;
  json["parts"] = parts_json(report);
  json["stages"] = stages_json(report);
  json["trends"] = trends_json(report);
  json["drains"] = Json::array();
  for (const DrainRow& drain : drains(report))
    json["drains"].push_back({{"partition", drain.partition->at.partition.value}, {"slot", drain.slot}});
  json["jobs"] = report.jobs;
  if (report.replica) {
    json["replica"] = {{"index", report.replica->index},
                       {"count", report.replica->count},
                       {"factor", report.replica->factor},
                       {"peers", report.replica->peers}};
  }
  json["recent"] = recent_json(report);
  json["configuration"] = report.configuration;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bloomring
