#include "base/metrics/metrics.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "base/metrics/metric_names.h"

using namespace bloomring;

namespace {

bool has_line(const std::string& text, const std::string& line) {
  return text.starts_with(line + "\n") || text.find("\n" + line + "\n") != std::string::npos;
}

// Declarations of the tests' own; the table of metric_names.h is only looked at as a whole.
constexpr double kBuckets[] = {0.025, 0.05};
constexpr MetricDecl kRecords{
    "bloomring_test_records_total", MetricType::kCounter, "Test.", {{{"result", "accepted|refused"}}}};
constexpr MetricDecl kBytes{"bloomring_test_bytes", MetricType::kGauge, "Test."};
constexpr MetricDecl kDelay{"bloomring_test_seconds", MetricType::kHistogram, "Test.", {}, kBuckets};
constexpr MetricDecl kLag{"bloomring_test_lag", MetricType::kGauge, "Test.", {{{"stage", ""}, {"partition", ""}}}};
constexpr MetricDecl kTwoLists{"bloomring_test_total",
                               MetricType::kCounter,
                               "Test.",
                               {{{"attempt", "first|second|lap"}, {"result", "done|failed"}}}};

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
  for (const MetricDecl* decl : metric::all()) {
    if (is_process_metric(decl->name) || decl == &metric::kLogMessages) continue;
    bool closed = true;
    for (size_t i = 0; i < decl->label_count(); ++i) closed = closed && !decl->labels[i].values.empty();
    if (closed) metrics.create_all(*decl);
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

TEST_CASE("metrics: counters, gauges and histograms count") {
  Metrics metrics;
  Counter& accepted = metrics.counter(kRecords, {"accepted"});
  accepted.add();
  accepted.add(41);
  CHECK(&metrics.counter(kRecords, {"accepted"}) == &accepted);
  CHECK(&metrics.counter(kRecords, {"refused"}) != &accepted);
  metrics.gauge(kBytes).set(1e9);
  metrics.gauge(kBytes).add(-1);
  metrics.histogram(kDelay).observe(0.03);
  const std::string text = metrics.text();
  CHECK(accepted.value() == 42);
  CHECK(has_line(text, "# TYPE bloomring_test_records_total counter"));
  CHECK(has_line(text, "bloomring_test_records_total{result=\"accepted\"} 42"));
  CHECK(has_line(text, "bloomring_test_records_total{result=\"refused\"} 0"));
  CHECK(has_line(text, "bloomring_test_bytes 999999999"));
  CHECK(has_line(text, "bloomring_test_seconds_bucket{le=\"0.025\"} 0"));
  CHECK(has_line(text, "bloomring_test_seconds_bucket{le=\"0.05\"} 1"));
  CHECK(has_line(text, "bloomring_test_seconds_bucket{le=\"+Inf\"} 1"));
  CHECK(has_line(text, "bloomring_test_seconds_count 1"));
}

TEST_CASE("metrics: a value that is observed many times at once is in its bucket as often, and in the sum") {
  Metrics one, many;
  for (const double value : {0.0009765625, 0.03125, 0.5, 1048576.0}) {
    for (int i = 0; i < 3; ++i) one.histogram(kDelay).observe(value);
    many.histogram(kDelay).observe(value, 3);
  }
  const auto of_histogram = [](const std::string& text) {
    const size_t begin = text.find("# HELP bloomring_test_seconds");
    return text.substr(begin, text.find("# HELP process", begin) - begin);
  };
  CHECK(of_histogram(many.text()) == of_histogram(one.text()));
  CHECK(many.histogram(kDelay).count() == 12);
}

TEST_CASE("metrics: every series that is known beforehand can be shown as zero") {
  Metrics metrics;
  metrics.create_all(kTwoLists);
  const std::string text = metrics.text();
  for (const char* attempt : {"first", "second", "lap"}) {
    for (const char* result : {"done", "failed"}) {
      CHECK(
          has_line(text, "bloomring_test_total{attempt=\"" + std::string(attempt) + "\",result=\"" + result + "\"} 0"));
    }
  }
}

TEST_CASE("metrics: a callback writes series that exist only while it is registered") {
  Metrics metrics;
  metrics.gauge(kLag, {"window", "1"}).set(7);
  {
    const Metrics::Registration registration = metrics.on_scrape([](Scrape& scrape) {
      scrape.write(kLag, {"window", "3"}, 17);
    });
    const std::string text = metrics.text();
    CHECK(has_line(text, R"(bloomring_test_lag{stage="window",partition="3"} 17)"));
    CHECK(text.find("# TYPE bloomring_test_lag") == text.rfind("# TYPE bloomring_test_lag"));
  }
  CHECK(metrics.text().find("partition=\"3\"") == std::string::npos);
  CHECK(metrics.text().find("partition=\"1\"") != std::string::npos);
}

TEST_CASE("metrics: a registration that has moved is kept by its new owner, and one that is replaced ends") {
  Metrics metrics;
  int first = 0, second = 0;
  Metrics::Registration owner = metrics.on_scrape([&](Scrape&) { ++first; });
  Metrics::Registration moved = std::move(owner);
  (void)metrics.text();
  CHECK(first == 1);
  moved = metrics.on_scrape([&](Scrape&) { ++second; });
  (void)metrics.text();
  CHECK(first == 1);
  CHECK(second == 1);
}

TEST_CASE("metrics: threads may count while another scrapes") {
  Metrics metrics;
  std::atomic<bool> stop = false;
  std::thread scraper([&] {
    while (!stop) (void)metrics.text();
  });
  std::vector<std::thread> counters;
  for (int i = 0; i < 2; ++i) {
    counters.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) metrics.counter(kRecords, {n % 2 == 0 ? "accepted" : "refused"}).add();
    });
  }
  for (std::thread& counter : counters) counter.join();
  stop = true;
  scraper.join();
  CHECK(metrics.counter(kRecords, {"accepted"}).value() == 1000);
}

TEST_CASE("metrics: the reference lists every declaration") {
  const std::string_view stages[] = {"ingest", "window"};
  const std::string page = metrics_reference(metric::all(), stages);
  for (const MetricDecl* decl : metric::all())
    CHECK(page.find("| `" + std::string(decl->name) + "` |") != std::string::npos);
  CHECK(page.find("| `stage`: ingest, window |") != std::string::npos);
  const MetricDecl* const two_lists[] = {&kTwoLists};
  const std::string row = "| counter | `attempt`: first, second, lap; `result`: done, failed | Test. |\n";
  CHECK(metrics_reference(two_lists, {}).find(row) != std::string::npos);
}
