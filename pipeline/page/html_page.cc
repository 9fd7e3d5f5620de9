#include "pipeline/page/html_page.h"

#include <algorithm>

#include "pipeline/page/html_text.h"
#include "pipeline/page/page_style.h"
#include "pipeline/page/page_words.h"
#include "pipeline/page/ring_svg.h"
#include "pipeline/page/sparkline.h"

namespace bloomring {

namespace {

// Bounds of the lists, in rows and in bytes of HTML; together with the rest below kHtmlBytesMax.
constexpr size_t kPartsMax = 16, kPartsBytes = 5'000;
constexpr size_t kStagesMax = 16, kStagesBytes = 4'000;
constexpr size_t kTrendsMax = 16, kTrendsBytes = 5'200;
constexpr size_t kRingsMax = 24, kRingsBytes = 16'000;
constexpr size_t kRingRowsMax = 40, kRingRowsBytes = 12'000;
constexpr size_t kPartitionsMax = 40, kPartitionsBytes = 9'000;
constexpr size_t kWorkMax = 30, kWorkBytes = 5'000;
constexpr size_t kPeersMax = 20, kPeersBytes = 4'000;
constexpr size_t kRecentMax = 20, kRecentBytes = 9'000;
constexpr size_t kConfigurationBytes = 9'000;

std::string text_cell(const std::string& text) { return "<td class=\"t\">" + text + "</td>"; }
std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }
std::string number_cell(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }
std::string row_head(const std::string& text) { return "<th scope=\"row\">" + text + "</th>"; }

std::string left_out(const Rows& rows, const char* what) {
  if (rows.left_out() == 0) return "";
  return "<p>" + count_text(static_cast<int64_t>(rows.left_out())) + " more " + what +
         " are not shown; <a href=\"/?format=json\">JSON</a> has all.</p>";
}

// A table that a keyboard can scroll; the region needs a name for that.
std::string table(const std::string& caption, std::initializer_list<const char*> heads, const Rows& rows,
                  const char* more) {
  std::string html = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + caption +
                     "\"><table><caption>" + caption + "</caption><thead><tr>";
  for (const char* head : heads) html.append("<th scope=\"col\">").append(head).append("</th>");
  return html + "</tr></thead><tbody>" + rows.html() + "</tbody></table></div>\n" + left_out(rows, more);
}

std::string section(const char* id, const char* title, const std::string& content) {
  return std::string("<section aria-labelledby=\"") + id + "\"><h2 id=\"" + id + "\">" + title + "</h2>\n" + content +
         "</section>\n";
}

std::string age_of(const OpsReport& report, int64_t ms) { return duration_text(report.now_ms - ms) + " ago"; }

std::string header_of(const OpsReport& report) {
  const std::string word = verdict(report);
  const char* kind = word == "READY" ? "good" : word == "FAILED" ? "bad" : "warning";
  std::string html = "<header><h1>bloomring " + escaped(report.instance, 100) + "</h1>\n<p class=\"verdict " +
                     std::string(kind) + "\">" + word + "</p>\n<p class=\"muted\">version " +
                     escaped(report.version, 40) + ", commit " + escaped(report.commit, 40) + ", up " +
                     duration_text(report.now_ms - report.started_ms) + ", page of " + time_text(report.now_ms);
  html += report.looked_ms ? ", stages asked " + age_of(report, *report.looked_ms) : ", stages not asked yet";
  html += "</p>\n";
  if (look_is_old(report)) {
    html += "<p class=\"bad\">Old: the stages have not answered for " +
            duration_text(report.now_ms - *report.looked_ms) + ". Below is their last answer.</p>\n";
  }
  constexpr std::array<std::array<const char*, 2>, 10> kSections = {{{"state", "State"},
                                                                    {"stages", "Stages"},
                                                                    {"trends", "Last quarter of an hour"},
                                                                    {"rings", "Ring"},
                                                                    {"partitions", "Partitions"},
                                                                    {"work", "Under way"},
                                                                    {"store", "Filter store"},
                                                                    {"replica", "Replicas"},
                                                                    {"recent", "Warnings and errors"},
                                                                    {"configuration", "Configuration"}}};
  html += "<nav aria-label=\"Sections\"><ul>";
  for (const auto& [id, title] : kSections)
    html.append("<li><a href=\"#").append(id).append("\">").append(title).append("</a></li>");
  return html + "</ul></nav></header>\n";
}

std::string state_of(const OpsReport& report) {
  if (report.parts.empty()) return "<p>No part of the process has said anything yet.</p>\n";
  Rows rows(kPartsMax, kPartsBytes);
  for (const PartReport& part : report.parts) {
    const char* state = part.failed ? "<strong class=\"bad\">failed</strong>"
                        : part.ready ? (part.reason.empty() ? "ready" : "<strong class=\"warning\">degraded</strong>")
                                     : "<strong class=\"warning\">not ready</strong>";
    rows.add("<tr>" + row_head(escaped(part.part, 60)) + cell(state) + text_cell(escaped(part.reason, 400)) +
             "</tr>\n");
  }
  return table("Parts of the process, and why they are not ready", {"part", "state", "reason"}, rows, "parts");
}

std::string stages_of(const OpsReport& report) {
  if (report.stages.empty()) return "<p>No stage has started yet.</p>\n";
  Rows rows(kStagesMax, kStagesBytes);
  for (const StageReport& stage : report.stages) {
    const StageSums sums = sums_of(stage.status);
    std::string numbers;
    for (const auto& [name, value] : stage.status.numbers) {
      std::string words = name;
      std::ranges::replace(words, '_', ' ');
      numbers += (numbers.empty() ? "" : ", ") + count_text(static_cast<int64_t>(value)) + " " + words;
    }
    rows.add("<tr>" + row_head(escaped(stage.status.stage, 40)) +
             number_cell(count_text(static_cast<int64_t>(sums.partitions))) +
             number_cell(rate_text(stage.records_per_second)) + number_cell(count_text(sums.lag_records)) +
             number_cell(seconds_text(sums.behind_seconds_max)) + cell(escaped(stage.status.address, 100)) +
             cell(escaped(numbers, 200)) + "</tr>\n");
  }
  return table("Stages of this process: records of their topics, and how far the worst partition is behind",
               {"stage", "partitions", "records/s", "lag, records", "behind, s", "takes calls at", "in memory"}, rows,
               "stages");
}

std::string value_text(const Trend& trend, const std::optional<double>& value) {
  return trend.seconds ? delay_text(value) : rate_text(value);
}

std::string trends_of(const OpsReport& report) {
  if (report.trends.empty()) return "<p>No stage has been asked yet.</p>\n";
  Rows rows(kTrendsMax, kTrendsBytes);
  for (const Trend& trend : report.trends) {
    rows.add("<tr>" + row_head(escaped(trend.title, 100)) + number_cell(value_text(trend, trend.last_minute)) +
             number_cell(value_text(trend, trend.least())) + number_cell(value_text(trend, trend.most())) +
             cell(spark_svg(trend.points, Trends::kSteps)) + "</tr>\n");
  }
  return table("Rates and delays: over the last minute, and in steps of 15 s of the last quarter of an hour",
               {"figure", "last minute", "least", "most", "from 0 to the most, newest at the right"}, rows, "figures");
}

// "0 F 1 D ..." is for a screen reader what the letters are in their order: slot 0 first.
std::string letters(const RingStatus& ring) {
  std::string text;
  for (const SlotStatus& slot : ring.slots) text += letter_of(slot.state);
  return text;
}

std::string ring_row(const OpsReport& report, const PartitionRow& row) {
  const RingStatus& ring = *row.partition->ring;
  uint64_t events = 0, bytes = 0;
  for (const SlotStatus& slot : ring.slots) {
    for (const StagedHour& hour : slot.hours) events += hour.events, bytes += hour.bytes;
  }
  const auto since = oldest_unmerged_ms(ring);
  return "<tr>" + row_head(std::to_string(row.partition->at.partition.value)) + "<td class=\"s\">" + letters(ring) +
         "</td>" + cell(since ? hour_text(*since) + ", " + age_of(report, *since) : "none") +
         number_cell(ring.merged ? count_text(ring.merged->value) : "none") +
         number_cell(ring.applied ? count_text(ring.applied->value) : "-") +
         number_cell(count_text(static_cast<int64_t>(events))) + number_cell(size_text(bytes)) + "</tr>\n";
}

std::string rings_of(const OpsReport& report) {
  const std::vector<PartitionRow> rings = rings_worst_first(report);
  if (rings.empty()) return "<p>This process holds no ring: its window stage has no partition, or does not run.</p>\n";
  Rows pictures(kRingsMax, kRingsBytes), rows(kRingRowsMax, kRingRowsBytes);
  for (const PartitionRow& row : rings) {
    pictures.add("<li>" + small_ring(*row.partition) + "</li>\n");
    rows.add(ring_row(report, row));
  }
  return "<div class=\"ring\">" + large_ring(report) + "<div><p>Each sector is a slot, clockwise from the top. A slot "
         "holds the plays of " + duration_text(rings.front().partition->ring->slot_ms) +
         " of log time until they are merged into filters. Its state here is that of the partition with "
         "the most to do.</p>\n" + ring_key() + "</div></div>\n<h3>Each partition</h3>\n<ul class=\"rings\">" +
         pictures.html() + "</ul>\n" + left_out(pictures, "rings") +
         table("Rings, the one with the oldest unmerged slot first; letters of slots from slot 0 on",
               {"partition", "slots", "sealed and unmerged since", "merged offset", "applied offset", "events held",
                "bytes held"},
               rows, "rings");
}

std::string partitions_of(const OpsReport& report) {
  Rows rows(kPartitionsMax, kPartitionsBytes);
  const auto offset = [](Offset value) { return number_cell(value.value < 0 ? "-" : count_text(value.value)); };
  for (const PartitionRow& row : worst_first(report)) {
    const PartitionLevel& level = row.partition->level;
    rows.add("<tr>" + row_head(escaped(row.stage->stage, 40)) + cell(escaped(row.partition->at.topic, 100)) +
             number_cell(std::to_string(row.partition->at.partition.value)) +
             number_cell(seconds_text(row.partition->behind_seconds)) +
             number_cell(count_text(lag_records(*row.partition))) + offset(level.applied) + offset(level.committed) +
             offset(level.log_end) + "</tr>\n");
  }
  if (rows.empty()) return "<p>No stage of this process works on a partition now.</p>\n";
  return table("Partitions of each stage, the longest behind first",
               {"stage", "topic", "partition", "behind, s", "lag, records", "applied offset", "committed offset",
                "end of the log"},
               rows, "partitions");
}

std::string work_of(const OpsReport& report) {
  Rows rows(kWorkMax, kWorkBytes);
  for (const std::string& job : report.jobs) rows.add("<li>" + escaped(job) + "</li>\n");
  for (const DrainRow& drain : drains(report)) {
    const SlotStatus& slot = drain.partition->ring->slots[drain.slot];
    uint64_t events = 0;
    for (const StagedHour& hour : slot.hours) events += hour.events;
    rows.add("<li>Drain of slot " + std::to_string(drain.slot) + " of partition " +
             std::to_string(drain.partition->at.partition.value) + ": " + count_text(static_cast<int64_t>(events)) +
             " events</li>\n");
  }
  if (rows.empty()) return "<p>No drain and no other job is under way.</p>\n";
  return "<ul>" + rows.html() + "</ul>\n" + left_out(rows, "jobs");
}

std::string store_of(const OpsReport& report) {
  for (const StageReport& stage : report.stages) {
    if (!stage.status.store) continue;
    return "<p>This process writes the filter store " + escaped(stage.status.store->path, 200) + ": " +
           size_text(stage.status.store->bytes_on_disk) + " on disk.</p>\n";
  }
  return "<p>This process does not write the filter store.</p>\n";
}

std::string replica_of(const OpsReport& report) {
  if (!report.replica) return "<p>This process answers no queries: it runs no serve stage.</p>\n";
  const ReplicaReport& replica = *report.replica;
  std::string html = "<p>This is replica " + std::to_string(replica.index) + " of " + std::to_string(replica.count) +
                     "; " + std::to_string(replica.factor) + " hold each partition.</p>\n";
  Rows rows(kPeersMax, kPeersBytes);
  for (const std::string& peer : replica.peers) rows.add("<li>" + escaped(peer, 120) + "</li>\n");
  if (rows.empty()) return html;
  return html + "<p>Replicas that it passes calls on to:</p>\n<ul>" + rows.html() + "</ul>\n" +
         left_out(rows, "replicas");
}

std::string recent_of(const OpsReport& report) {
  if (report.recent.empty()) return "<p>None since the start.</p>\n";
  Rows rows(kRecentMax, kRecentBytes);
  for (const RecentLine& line : report.recent) {
    rows.add("<tr>" + row_head("<time>" + escaped(line.last, 30) + "</time>") +
             cell(line.error ? "<strong class=\"bad\">error</strong>" : "<span class=\"warning\">warning</span>") +
             number_cell(count_text(static_cast<int64_t>(line.count))) + text_cell(escaped(line.message, 300)) +
             text_cell(escaped(line.fields, 300)) + "</tr>\n");
  }
  return table("The last warnings and errors of the log, newest first", {"last", "level", "times", "message", "place"},
               rows, "lines");
}

std::string configuration_of(const OpsReport& report) {
  if (report.configuration.empty()) return "<p>Not known to this process.</p>\n";
  Rows lines(kHtmlBytesMax, kConfigurationBytes);
  for (size_t begin = 0; begin < report.configuration.size();) {
    const size_t end = std::min(report.configuration.find('\n', begin), report.configuration.size());
    lines.add(escaped(report.configuration.substr(begin, end - begin)) + "\n");
    begin = end + 1;
  }
  return "<p>As loaded at the start, with the origin of each value. Secrets are hidden.</p>\n<pre class=\"wide\" "
         "tabindex=\"0\" role=\"region\" aria-label=\"Configuration in YAML\">" + lines.html() + "</pre>\n" +
         left_out(lines, "lines");
}

}  // namespace

std::string html_page(const OpsReport& report) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>bloomring " + escaped(report.instance, 100) + ": " +
         verdict(report) + "</title><style>" + page_style() + "</style></head><body>\n<a class=\"skip\" "
         "href=\"#main\">To the content</a>\n" + header_of(report) + "<main id=\"main\">\n" +
         section("state", "State", state_of(report)) + section("stages", "Stages", stages_of(report)) +
         section("trends", "Last quarter of an hour", trends_of(report)) +
         section("rings", "Ring", rings_of(report)) + section("partitions", "Partitions", partitions_of(report)) +
         section("work", "Under way", work_of(report)) + section("store", "Filter store", store_of(report)) +
         section("replica", "Replicas", replica_of(report)) +
         section("recent", "Warnings and errors", recent_of(report)) +
         section("configuration", "Configuration", configuration_of(report)) +
         "</main>\n<footer><p>The same as <a href=\"/?format=json\">JSON</a> and <a href=\"/?format=text\">text</a>; "
         "<a href=\"/metrics\">metrics</a>, <a href=\"/readyz\">readiness</a>, <a href=\"/status\">status</a>. The "
         "page does not renew itself: load it again, or run <code>bloomring status --watch</code>.</p></footer>\n"
         "</body></html>\n";
}

}  // namespace bloomring
