#include "pipeline/metrics/all_metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/metrics/metrics.h"

using namespace bloomring;

namespace {

bool is_process_metric(std::string_view name) { return name.starts_with("process_"); }

}  // namespace

TEST_CASE("metrics: every declaration keeps the naming rules of Prometheus") {
  std::set<std::string_view> names;
  for (const MetricDecl* decl : metric::all()) {
    const std::string name(decl->name);
    INFO(name);
    CHECK(names.insert(decl->name).second);
    CHECK(std::regex_match(name, std::regex("(bloomring|process)(_[a-z]+)+")));
    CHECK(name.ends_with("_total") == (decl->type == MetricType::kCounter));
    for (const char* reserved : {"_bucket", "_sum", "_count", "_info_total"}) CHECK_FALSE(name.ends_with(reserved));
    // Base units only, and the type is not part of the name.
    for (const char* word : {"_ms", "_millis", "_milliseconds", "_minutes", "_hours", "_kb", "_mb", "_percent",
                             "_gauge", "_counter", "_histogram"}) {
      CHECK_FALSE(std::regex_search(name, std::regex(std::string(word) + "(_|$)")));
    }
    CHECK(decl->help.size() > 10);
    CHECK(decl->help.ends_with("."));
    CHECK(std::regex_search(std::string(decl->help), std::regex("^[A-Z0-9]")));
    CHECK(decl->help.find('|') == std::string_view::npos);  // It stands in a Markdown table.
  }
}

TEST_CASE("metrics: labels are few, well named and bounded") {
  const std::set<std::string_view> open = {"topic", "partition", "version", "commit", "librdkafka", "rocksdb",
                                           "grpc",  "part",      "key",     "stage",
                                           "slot"};  // At most 64 slots.
  for (const MetricDecl* decl : metric::all()) {
    INFO(decl->name);
    std::set<std::string_view> names;
    for (size_t i = 0; i < decl->label_count(); ++i) {
      const MetricLabel& label = decl->labels[i];
      CHECK(names.insert(label.name).second);
      CHECK(std::regex_match(std::string(label.name), std::regex("[a-z]+(_[a-z]+)*")));
      for (const char* reserved : {"le", "quantile", "job", "instance", "pod", "namespace"})
        CHECK(label.name != reserved);
      CHECK((!label.values.empty() || open.contains(label.name)));
      if (!label.values.empty()) {
        CHECK(std::regex_match(std::string(label.values), std::regex("[A-Za-z0-9_]+(\\|[A-Za-z0-9_]+)*")));
      }
    }
  }
}

TEST_CASE("metrics: histograms have ascending buckets, and nothing else has any") {
  for (const MetricDecl* decl : metric::all()) {
    INFO(decl->name);
    CHECK(decl->buckets.empty() == (decl->type != MetricType::kHistogram));
    CHECK(std::is_sorted(decl->buckets.begin(), decl->buckets.end(), std::less_equal<>()));
    CHECK(decl->buckets.size() <= 16);
  }
}

TEST_CASE("metrics: the text is in the exposition format and has every name once") {
  Metrics metrics;
  // One series of each, with the first value of each label's list.
  const Metrics::Registration registration = metrics.on_scrape([&](Scrape& scrape) {
    for (const MetricDecl* decl : metric::all()) {
      const bool written = is_process_metric(decl->name) || decl->name == "bloomring_log_messages_total";
      if (written || decl->type == MetricType::kHistogram) continue;
      std::vector<std::string_view> labels;
      for (size_t i = 0; i < decl->label_count(); ++i) {
        const std::string_view list = decl->labels[i].values;
        labels.push_back(list.empty() ? "any" : list.substr(0, list.find('|')));
      }
      scrape.write_series(*decl, labels, 1);
    }
  });
  for (const MetricDecl* decl : metric::all()) {
    if (decl->type == MetricType::kHistogram && decl->label_count() == 0) metrics.histogram(*decl);
  }
  std::istringstream lines(metrics.text());
  std::set<std::string> types, series;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    if (line.starts_with("# TYPE ")) {
      CHECK(types.insert(line.substr(7, line.find(' ', 7) - 7)).second);
    } else if (!line.starts_with("# HELP ")) {
      CHECK(
          std::regex_match(line, std::regex(R"([a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (\+Inf|[-+.e0-9]+))")));
      CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
  for (const char* name :
       {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
        "process_start_time_seconds", "bloomring_log_messages_total",
        "bloomring_ingest_records_total", "bloomring_event_to_seen_seconds"}) {
    CHECK(types.contains(name));
  }
}
