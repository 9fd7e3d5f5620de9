// Metrics of the process, in the Prometheus text format. The only file pair that knows the Prometheus library.
//
//   Counter& accepted = metrics.counter(metric::kIngestRecords, {"accepted"});   // Once, at start.
//   accepted.add(batch.size());                                                 // Then as often as wanted.
//
// Every metric is declared once (base/metrics/metric_decl.h); a name, a type, a number of labels or a label value that
// is not in the declaration is a broken invariant. A callback at scrape time (`on_scrape`) writes the values of things
// that come and go (partitions) or that are expensive to keep up to date: such a series exists only in the scrapes in
// which the callback wrote it.
//
// Threading: thread safe. Counters and gauges are lock-free (about 10 ns), `observe` takes a mutex (about 40 ns):
// per-record code adds up in a local variable and adds once per batch. References stay valid as long as the Metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/metrics/bucket_counts.h"
#include "base/metrics/metric_decl.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace bloomring {

using LabelValues = std::initializer_list<std::string_view>;

class Counter {
 public:
  explicit Counter(prometheus::Counter& impl) : impl_(impl) {}
  void add(uint64_t count = 1);
  uint64_t value() const;

 private:
  prometheus::Counter& impl_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge& impl) : impl_(impl) {}
  void set(double value);
  void add(double change);
  double value() const;

 private:
  prometheus::Gauge& impl_;
};

class Histogram {
 public:
  Histogram(prometheus::Histogram& impl, std::span<const double> buckets) : impl_(impl), buckets_(buckets) {}
  void observe(double value);
  // Observes the value `times` times, at the cost of one call.
  void observe(double value, uint64_t times);
  uint64_t count() const;

 private:
  prometheus::Histogram& impl_;
  std::span<const double> buckets_;  // Of the declaration, which outlives this.
};

// Takes what a callback writes during one scrape. Counters carry their value since start, not a change.
class Scrape {
 public:
  virtual ~Scrape() = default;
  void write(const MetricDecl& decl, LabelValues labels, double value) {
    write_series(decl, {labels.begin(), labels.size()}, value);
  }
  virtual void write_series(const MetricDecl& decl, std::span<const std::string_view> labels, double value) = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The child with these label values, made at the first call. Values are in the order of the declaration.
  Counter& counter(const MetricDecl& decl, LabelValues labels = {});
  Gauge& gauge(const MetricDecl& decl, LabelValues labels = {});
  Histogram& histogram(const MetricDecl& decl, LabelValues labels = {});

  // Keeps a callback registered while it lives. Once its destructor has returned, the callback is not running and never
  // runs again.
  class [[nodiscard]] Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept { *this = std::move(other); }
    Registration& operator=(Registration&& other) noexcept;
    ~Registration();

   private:
    friend class Metrics;
    Registration(Metrics* metrics, uint64_t id) : metrics_(metrics), id_(id) {}
    Metrics* metrics_ = nullptr;  // Outlives the registration.
    uint64_t id_ = 0;
  };
  // Calls `write` at every scrape, in the scraping thread, one at a time and in the order of their registration. It
  // must be quick, and must never wait for a thread that calls on_scrape or ends a Registration.
  Registration on_scrape(std::function<void(Scrape&)> write);

  // The page that /metrics serves: all of the above, process_* and bloomring_log_messages_total.
  std::string text() const;
  // The value of one series as `text` would show it; 0 where it shows none. Not of histograms. Costs a scrape.
  double value(const MetricDecl& decl, LabelValues labels = {}) const;
  // The observations of a histogram so far. An empty label value stands for every value. Makes no series.
  BucketCounts bucket_counts(const MetricDecl& decl, LabelValues labels = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The reference page of the given declarations in Markdown.
// `stages` are the values of the label `stage`, which the declarations leave open.
std::string metrics_reference(std::span<const MetricDecl* const> decls, std::span<const std::string_view> stages);

}  // namespace bloomring
