#include "base/metrics/metrics.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>


using namespace bloomring;

namespace {

bool has_line(const std::string& text, const std::string& line) {
  return text.starts_with(line + "\n") || text.find("\n" + line + "\n") != std::string::npos;
}

// Declarations of the tests' own; tests/pipeline/metrics/all_metrics_test.cc looks at those of the product.
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

}  // namespace

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

TEST_CASE("metrics: callbacks are called in the order of their registration") {
  Metrics metrics;
  std::string order;
  std::vector<Metrics::Registration> all;
  for (const char name : {'a', 'b', 'c'}) all.push_back(metrics.on_scrape([&, name](Scrape&) { order += name; }));
  all.erase(all.begin());
  all.push_back(metrics.on_scrape([&](Scrape&) { order += 'd'; }));
  (void)metrics.text();
  CHECK(order == "bcd");
}

TEST_CASE("metrics: a value can be read as a scrape shows it, whoever keeps it") {
  Metrics metrics;
  metrics.counter(kTwoLists, {"second", "done"}).add(3);
  metrics.gauge(kBytes).set(7);
  const Metrics::Registration registration = metrics.on_scrape([](Scrape& scrape) {
    scrape.write(kTwoLists, {"first", "failed"}, 5);
    scrape.write(kLag, {"window", "3"}, 17);
  });
  CHECK(metrics.value(kTwoLists, {"second", "done"}) == 3);
  CHECK(metrics.value(kTwoLists, {"first", "failed"}) == 5);
  CHECK(metrics.value(kTwoLists, {"lap", "failed"}) == 0);
  CHECK(metrics.value(kLag, {"window", "3"}) == 17);
  CHECK(metrics.value(kLag, {"window", "4"}) == 0);
  CHECK(metrics.value(kBytes) == 7);
  CHECK(metrics.value(kRecords, {"accepted"}) == 0);
}

TEST_CASE("metrics: the reference has a row for each declaration, with the values of its labels") {
  const std::string_view stages[] = {"ingest", "window"};
  const MetricDecl* const decls[] = {&kTwoLists, &kLag};
  const std::string page = metrics_reference(decls, stages);
  const std::string row = "| counter | `attempt`: first, second, lap; `result`: done, failed | Test. |\n";
  CHECK(page.find(row) != std::string::npos);
  CHECK(page.find("| `stage`: ingest, window; `partition` |") != std::string::npos);
}
