#include "pipeline/page/html_page.h"

#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "pipeline/page/page_style.h"
#include "pipeline/page/ring_svg.h"
#include "pipeline/page/text_page.h"
#include "tests/pipeline/page/page_world.h"

using namespace bloomring;
using namespace bloomring::test;
using Catch::Contains;

namespace {

size_t count(const std::string& text, const std::string& piece) {
  size_t times = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++times;
  return times;
}

std::vector<std::string> all(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// Each element that is opened is closed, in order.
void check_well_formed(const std::string& html) {
  const std::set<std::string> empty = {"meta", "use", "path"};
  const std::regex tag("<(/?)([a-z0-9]+)[^>]*>");
  std::vector<std::string> open;
  for (std::sregex_iterator at(html.begin(), html.end(), tag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if (empty.contains(name)) continue;
    if ((*at)[1].length() == 0) {
      open.push_back(name);
      continue;
    }
    REQUIRE_FALSE(open.empty());
    REQUIRE(open.back() == name);
    open.pop_back();
  }
  CHECK(open.empty());
}

// The report at its worst: every text is long and made of what must be escaped.
OpsReport hostile_report(int32_t partitions) {
  const std::string evil = "<script>alert('\"&')</script>" + std::string(2'000, '"');
  OpsReport report = report_of(partitions);
  report.instance = report.version = report.commit = evil;
  report.replica->peers.assign(1'000, evil);
  report.jobs.assign(1'000, evil);
  report.parts.assign(1'000, {evil, false, true, evil});
  report.recent.assign(kRecentLinesMax, {true, evil, evil, evil, evil, 7});
  for (StageReport& stage : report.stages) {
    stage.status.stage = stage.status.address = evil;
    stage.status.numbers[evil] = 1;
    for (PartitionStatus& partition : stage.status.partitions) partition.at.topic = evil;
    if (stage.status.store) stage.status.store->path = evil;
  }
  report.trends.assign(1'000, {evil, evil, evil, false, 1.0 / 3, {}});
  for (Trend& trend : report.trends) trend.points.assign(Trends::kSteps, 1e9 / 3);
  report.configuration.clear();
  for (int i = 0; i < 1'000; ++i) report.configuration += evil + "\n";
  return report;
}

}  // namespace

TEST_CASE("page: the HTML shows the state of the process, its stages, ring, store, replicas and configuration") {
  OpsReport report = report_of(2);
  report.parts[0].reason = "1 of 2 partitions waits";
  report.jobs = {"a backup of the filter store"};
  report.recent = {{true, "window cannot go on: disk full", "stage=window", "2026-11-04T09:00:00.000Z",
                    "2026-11-04T09:59:00.000Z", 3}};
  const std::string html = html_page(report);
  for (const char* piece :
       {"<title>bloomring site-1: DEGRADED</title>", "<p class=\"verdict warning\">DEGRADED</p>",
        "version 0.1.0, commit 0123456789ab, up 2 h 5 min, page of 2026-11-04 10:00:00Z, stages asked 1 s ago",
        "<th scope=\"row\">serve</th><td><strong class=\"warning\">degraded</strong></td>"
        "<td class=\"t\">1 of 2 partitions waits</td>",
        "<th scope=\"row\">window</th><td class=\"n\">2</td><td class=\"n\">12.5</td><td class=\"n\">0</td>",
        "<th scope=\"row\">merge</th><td class=\"n\">2</td><td class=\"n\">0</td><td class=\"n\">6</td>",
        "<td>127.0.0.1:7700</td><td>12,345 recent plays</td>",
        "<th scope=\"row\">1</th><td class=\"s\">MDSF--</td><td>11-04 08:00Z, 2 h ago</td><td class=\"n\">40</td>"
        "<td class=\"n\">100</td><td class=\"n\">4,500</td><td class=\"n\">6.0 KiB</td>",
        "<td>user-batches</td><td class=\"n\">1</td><td class=\"n\">0</td><td class=\"n\">3</td>"
        "<td class=\"n\">1,000</td><td class=\"n\">900</td><td class=\"n\">1,003</td>",
        "<li>a backup of the filter store</li>", "<li>Drain of slot 1 of partition 0: 1,500 events</li>",
        "the filter store /var/lib/bloomring/store: 5.0 MiB on disk", "This is replica 0 of 2; 1 hold each partition.",
        "<li>serve-1:7700</li>",
        "<time>2026-11-04T09:59:00.000Z</time></th><td><strong class=\"bad\">error</strong></td><td class=\"n\">3</td>"
        "<td class=\"t\">window cannot go on: disk full</td><td class=\"t\">stage=window</td>",
        "  sasl.password: (hidden)  # site.yaml:3\n"})
    CHECK_THAT(html, Contains(piece));
  check_well_formed(html);
}

TEST_CASE("page: a process that has just started, without a stage, has a page") {
  OpsReport report;
  report.now_ms = report.started_ms = kNowMs;
  const std::string html = html_page(report);
  for (const char* piece : {"NOT READY", "stages not asked yet", "No part of the process has said anything yet.",
                            "No stage has started yet.", "This process holds no ring", "No stage of this process works",
                            "No drain and no other job is under way.", "This process does not write the filter store.",
                            "This process answers no queries", "None since the start.", "Not known to this process."})
    CHECK_THAT(html, Contains(piece));
  check_well_formed(html);
}

TEST_CASE("page: each trend has its figures as text, next to a picture that is not read out") {
  OpsReport report = report_of(1);
  const std::string stage_title = "records a second of window";
  report.trends = {{"records_per_second", "window", stage_title, false, 12.5, {0.0, std::nullopt, 99.0}},
                   {"filter_p99_seconds", "", "answer to Filter", true, 0.0021, {0.0021, 2.5}},
                   {"freshness_p99_seconds", "", "write to seen", true, std::nullopt, {}}};
  const std::string html = html_page(report);
  for (const char* piece :
       {"<th scope=\"row\">records a second of window</th><td class=\"n\">12.5</td><td class=\"n\">0</td>"
        "<td class=\"n\">99.0</td><td><svg class=\"spark\"",
        "<th scope=\"row\">answer to Filter</th><td class=\"n\">2.1 ms</td><td class=\"n\">2.1 ms</td>"
        "<td class=\"n\">2.5 s</td>",
        "<th scope=\"row\">write to seen</th><td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td>"})
    CHECK_THAT(html, Contains(piece));
  check_well_formed(html);
  const std::string text = text_page(report);
  CHECK_THAT(text, Contains("\nLAST QUARTER OF AN HOUR\n"));
  CHECK_THAT(text, Contains("  records a second of window         12.5       0   99.0  ▁█\n"));
  CHECK_THAT(text, Contains("  answer to Filter                 2.1 ms  2.1 ms  2.5 s  █\n"));
}

TEST_CASE("page: the ring says how long its slots are") {
  OpsReport report = report_of(2);
  for (PartitionStatus& partition : report.stages[0].status.partitions) partition.ring->slot_ms = 10'000;
  CHECK_THAT(html_page(report), Contains("A slot holds the plays of 10 s of log time until they are merged"));
}

TEST_CASE("page: while the stages do not answer, the page says that it is old") {
  OpsReport report = report_of(1);
  report.looked_ms = kNowMs - 90'000;
  CHECK_THAT(html_page(report), Contains("Old: the stages have not answered for 1 min."));
}

TEST_CASE("page: each slot has its state as a letter, a line and a text, not as a colour alone") {
  const std::string ring = small_ring(report_of(1).stages[0].status.partitions[0]);
  CHECK_THAT(ring, Contains("<title id=\"r0t\">Ring of partition 0</title>"));
  CHECK_THAT(ring, Contains(">0 merged, 1 draining, 2 sealed, 3 filling, 4 free, 5 free</desc>"));
  for (const char* letter : {">M<", ">D<", ">S<", ">F<", ">-<"}) CHECK_THAT(ring, Contains(letter));
  for (const char* line : {"#b0\" class=\"k4\"", "#b1\" class=\"k3\"", "#b2\" class=\"k2\"", "#b3\" class=\"k1\""})
    CHECK_THAT(ring, Contains(line));
  const std::string large = large_ring(report_of(3));
  CHECK_THAT(large, Contains("Slot 1: 3 draining. Slot 2: 3 sealed."));
  CHECK(count(large, "<path id=\"a") == 6);
  CHECK_THAT(large, Contains("<path id=\"a0\" d=\"M0.0 -96.0A96.0 96.0 0 0 1 83.1 -48.0L41.6 -24.0A48.0 48.0 0 0 0 "
                             "0.0 -48.0Z\"/>"));
}

TEST_CASE("page: every shape that a ring uses is defined, once") {
  for (const size_t slots : {3, 12, 64}) {
    OpsReport report = report_of(2);
    for (PartitionStatus& partition : report.stages[0].status.partitions) partition.ring->slots.resize(slots);
    const std::string html = html_page(report);
    const std::vector<std::string> ids = all(html, " id=\"([^\"]+)\"");
    const std::set<std::string> defined(ids.begin(), ids.end());
    CHECK(defined.size() == ids.size());
    for (const std::string& used : all(html, "href=\"#([^\"]+)\"")) CHECK(defined.contains(used));
    for (const std::string& used : all(html, "aria-(?:labelledby|describedby)=\"([^\"]+)\""))
      CHECK(defined.contains(used));
  }
}

TEST_CASE("page: it has landmarks, headings in order, and captions and scopes in every table") {
  const std::string html = html_page(report_of(2));
  CHECK_THAT(html, Contains("<html lang=\"en\">"));
  for (const char* landmark : {"<header>", "<nav aria-label=\"", "<main id=\"main\">", "<footer>"})
    CHECK(count(html, landmark) == 1);
  CHECK_THAT(html, Contains("<a class=\"skip\" href=\"#main\">"));
  int level = 0;
  for (const std::string& next : all(html, "<h([1-6])")) {
    CHECK(std::stoi(next) <= level + 1);
    level = std::stoi(next);
  }
  CHECK(count(html, "<h1") == 1);
  CHECK(count(html, "<section aria-labelledby=\"") == 10);
  std::vector<std::string> names = all(html, "<h2 id=\"[a-z]+\">([^<]+)");  // Of sections, which are landmarks, too.
  for (const std::string& name : all(html, " aria-label=\"([^\"]+)\"")) names.push_back(name);
  CHECK(std::set(names.begin(), names.end()).size() == names.size());
  CHECK(count(html, "<table><caption>") == count(html, "<table"));
  CHECK(count(html, "<th scope=\"") == count(html, "<th") - count(html, "<thead"));
  CHECK(count(html, " role=\"img\" aria-labelledby=\"") + count(html, "aria-hidden=\"true\"") == count(html, "<svg"));
}

TEST_CASE("page: it has no script and no style outside its stylesheet, and loads nothing") {
  const std::string html = html_page(hostile_report(3));
  for (const char* word : {"<script", " onload=", " style=\"", "<img", "<iframe", "<form", "<link", "javascript:"})
    CHECK(count(html, word) == 0);
  CHECK(count(html, "<style>" + page_style() + "</style>") == 1);
  for (const std::string& link : all(html, " href=\"([^\"]+)\"")) CHECK((link[0] == '#' || link[0] == '/'));
  check_well_formed(html);
}

TEST_CASE("page: it stays below 100 kB, with 5,000 partitions and the longest texts, and says what it omits") {
  const std::string many = html_page(report_of(5'000));
  CHECK(many.size() < kHtmlBytesMax);
  for (const char* piece : {"4,960 more rings are not shown", "14,960 more partitions are not shown",
                            "4,970 more jobs are not shown"})
    CHECK_THAT(many, Contains(piece));
  const std::string worst = html_page(hostile_report(5'000));
  CHECK(worst.size() < kHtmlBytesMax);
  check_well_formed(worst);
  OpsReport wide = hostile_report(5'000);
  for (PartitionStatus& partition : wide.stages[0].status.partitions) {
    const auto state = static_cast<SlotState>(partition.at.partition.value % kSlotStateCount);
    partition.ring->slots.assign(64, SlotStatus{state, {StagedHour{}}});
  }
  CHECK(html_page(wide).size() < kHtmlBytesMax);
}
