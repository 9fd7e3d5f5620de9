#include "base/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "base/log.h"
#include "base/metrics/base_metrics.h"
#include "base/metrics/process_stats.h"
#include "base/result.h"

namespace bloomring {
namespace {

using Families = std::map<std::string, prometheus::MetricFamily>;  // By name; each name once, as the format asks.

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  for (size_t start = 0; !list.empty();) {
    const size_t bar = list.find('|', start);
    words.push_back(list.substr(start, bar == std::string_view::npos ? bar : bar - start));
    if (bar == std::string_view::npos) break;
    start = bar + 1;
  }
  return words;
}

bool allowed(std::string_view list, std::string_view value) {
  if (list.empty()) return true;
  for (const std::string_view word : words_of(list)) {
    if (word == value) return true;
  }
  return false;
}

void check_labels(const MetricDecl& decl, std::span<const std::string_view> values) {
  const std::string name(decl.name);
  BLOOMRING_CHECK(values.size() == decl.label_count(), name + ": wrong number of label values");
  for (size_t i = 0; i < values.size(); ++i) {
    BLOOMRING_CHECK(allowed(decl.labels[i].values, values[i]),
                    name + ": undeclared label value " + std::string(values[i]));
  }
}

prometheus::MetricType type_of(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return prometheus::MetricType::Counter;
    case MetricType::kGauge: return prometheus::MetricType::Gauge;
    case MetricType::kHistogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::MetricFamily& family_of(Families& families, const MetricDecl& decl) {
  prometheus::MetricFamily& family = families[std::string(decl.name)];
  family.name = decl.name;
  family.help = decl.help;
  family.type = type_of(decl.type);
  return family;
}

class FamilyScrape final : public Scrape {
 public:
  explicit FamilyScrape(Families& families) : families_(families) {}

  void write_series(const MetricDecl& decl, std::span<const std::string_view> labels, double value) override {
    BLOOMRING_CHECK(decl.type != MetricType::kHistogram,
                    std::string(decl.name) + ": a histogram cannot be written at scrape");
    check_labels(decl, labels);
    prometheus::ClientMetric child;
    size_t index = 0;
    for (const std::string_view label : labels) {
      child.label.push_back({std::string(decl.labels[index++].name), std::string(label)});
    }
    (decl.type == MetricType::kCounter ? child.counter.value : child.gauge.value) = value;
    family_of(families_, decl).metric.push_back(std::move(child));
  }

 private:
  Families& families_;
};

void write_process(Scrape& scrape) {
  const ProcessStats stats = read_process_stats();
  const auto write = [&](const MetricDecl& decl, const auto& value) {
    if (value) scrape.write(decl, {}, static_cast<double>(*value));
  };
  write(metric::kProcessCpu, stats.cpu_seconds);
  write(metric::kProcessStart, stats.start_seconds);
  write(metric::kProcessResident, stats.resident_bytes);
  write(metric::kProcessVirtual, stats.virtual_bytes);
  write(metric::kProcessFds, stats.open_fds);
  write(metric::kProcessFdsMax, stats.fds_max);
  for (size_t level = 0; level < kLogLevelCount; ++level) {
    const auto log_level = static_cast<LogLevel>(level);
    scrape.write(metric::kLogMessages, {log_level_name(log_level)}, static_cast<double>(log_lines(log_level)));
  }
}

// The children of all metrics of one type, each behind our Counter, Gauge or Histogram.
template <typename Face, typename Impl>
class Children {
 public:
  template <typename... Args>
  Face& child(const MetricDecl& decl, std::span<const std::string_view> values, const Args&... args) {
    check_labels(decl, values);
    const std::lock_guard lock(mutex_);
    auto& family = families_[decl.name];
    if (!family) {
      family = std::make_unique<prometheus::Family<Impl>>(std::string(decl.name), std::string(decl.help),
                                                          prometheus::Labels());
    }
    prometheus::Labels labels;
    for (size_t i = 0; i < values.size(); ++i) labels.emplace(decl.labels[i].name, values[i]);
    Impl& impl = family->Add(labels, args...);
    if constexpr (std::is_same_v<Face, Histogram>) {
      return faces_.try_emplace(&impl, impl, decl.buckets).first->second;
    } else {
      return faces_.try_emplace(&impl, impl).first->second;
    }
  }

  // Of one metric; nothing before it has a child.
  std::vector<prometheus::MetricFamily> collect(const MetricDecl& decl) const {
    const std::lock_guard lock(mutex_);
    const auto family = families_.find(decl.name);
    return family == families_.end() ? std::vector<prometheus::MetricFamily>() : family->second->Collect();
  }

  void collect(Families& families) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, family] : families_) {
      for (prometheus::MetricFamily& collected : family->Collect()) {
        families.insert_or_assign(std::string(name), std::move(collected));
      }
    }
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string_view, std::unique_ptr<prometheus::Family<Impl>>> families_;
  std::map<Impl*, Face> faces_;  // Nodes of a map do not move.
};

}  // namespace

struct Metrics::Impl {
  Children<Counter, prometheus::Counter> counters;
  Children<Gauge, prometheus::Gauge> gauges;
  Children<Histogram, prometheus::Histogram> histograms;
  std::mutex callbacks_mutex;  // Held while callbacks run, so that ending a registration waits for them.
  std::map<uint64_t, std::function<void(Scrape&)>> callbacks;
  uint64_t next_id = 1;

  Histogram& histogram(const MetricDecl& decl, std::span<const std::string_view> values) {
    return histograms.child(decl, values,
                            prometheus::Histogram::BucketBoundaries(decl.buckets.begin(), decl.buckets.end()));
  }
  Families scrape() {
    Families families;
    counters.collect(families);
    gauges.collect(families);
    histograms.collect(families);
    FamilyScrape page(families);
    write_process(page);
    const std::lock_guard lock(callbacks_mutex);
    for (const auto& [id, write] : callbacks) write(page);
    return families;
  }
};

std::string_view metric_type_name(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: return "histogram";
  }
  return "";
}

void Counter::add(uint64_t count) { impl_.Increment(static_cast<double>(count)); }
uint64_t Counter::value() const { return static_cast<uint64_t>(impl_.Value()); }
void Gauge::set(double value) { impl_.Set(value); }
void Gauge::add(double change) { impl_.Increment(change); }
double Gauge::value() const { return impl_.Value(); }
void Histogram::observe(double value) { impl_.Observe(value); }

void Histogram::observe(double value, uint64_t times) {
  std::vector<double> increments(buckets_.size() + 1);
  const auto bucket = std::lower_bound(buckets_.begin(), buckets_.end(), value) - buckets_.begin();
  increments[static_cast<size_t>(bucket)] = static_cast<double>(times);
  impl_.ObserveMultiple(increments, value * static_cast<double>(times));
}

uint64_t Histogram::count() const { return impl_.Collect().histogram.sample_count; }

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(const MetricDecl& decl, LabelValues labels) {
  BLOOMRING_CHECK(decl.type == MetricType::kCounter, std::string(decl.name) + " is no counter");
  return impl_->counters.child(decl, labels);
}

Gauge& Metrics::gauge(const MetricDecl& decl, LabelValues labels) {
  BLOOMRING_CHECK(decl.type == MetricType::kGauge, std::string(decl.name) + " is no gauge");
  return impl_->gauges.child(decl, labels);
}

Histogram& Metrics::histogram(const MetricDecl& decl, LabelValues labels) {
  BLOOMRING_CHECK(decl.type == MetricType::kHistogram, std::string(decl.name) + " is no histogram");
  return impl_->histogram(decl, labels);
}

Metrics::Registration Metrics::on_scrape(std::function<void(Scrape&)> write) {
  const std::lock_guard lock(impl_->callbacks_mutex);
  const uint64_t id = impl_->next_id++;
  impl_->callbacks.emplace(id, std::move(write));
  return {this, id};
}

Metrics::Registration& Metrics::Registration::operator=(Registration&& other) noexcept {
  std::swap(metrics_, other.metrics_);
  std::swap(id_, other.id_);
  return *this;
}

Metrics::Registration::~Registration() {
  if (metrics_ == nullptr) return;
  const std::lock_guard lock(metrics_->impl_->callbacks_mutex);
  metrics_->impl_->callbacks.erase(id_);
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> ordered;
  for (auto& [name, family] : impl_->scrape()) ordered.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(ordered);
}

double Metrics::value(const MetricDecl& decl, LabelValues labels) const {
  check_labels(decl, labels);
  std::map<std::string_view, std::string_view> wanted;  // The library keeps labels in its own order.
  for (size_t i = 0; i < labels.size(); ++i) wanted[decl.labels[i].name] = labels.begin()[i];
  const Families families = impl_->scrape();
  const auto family = families.find(std::string(decl.name));
  if (family == families.end()) return 0;
  for (const prometheus::ClientMetric& child : family->second.metric) {
    if (!std::ranges::all_of(child.label, [&](const auto& label) { return wanted[label.name] == label.value; }))
      continue;
    return decl.type == MetricType::kCounter ? child.counter.value : child.gauge.value;
  }
  return 0;
}

BucketCounts Metrics::bucket_counts(const MetricDecl& decl, LabelValues labels) const {
  BLOOMRING_CHECK(decl.type == MetricType::kHistogram && labels.size() == decl.label_count(),
                  std::string(decl.name) + " is no histogram of so many labels");
  std::map<std::string_view, std::string_view> wanted;
  for (size_t i = 0; i < labels.size(); ++i) wanted[decl.labels[i].name] = labels.begin()[i];
  BucketCounts sums{decl.buckets, std::vector<uint64_t>(decl.buckets.size() + 1)};
  for (const prometheus::MetricFamily& family : impl_->histograms.collect(decl)) {
    for (const prometheus::ClientMetric& child : family.metric) {
      const auto asked = [&](const auto& label) {
        return wanted[label.name].empty() || wanted[label.name] == label.value;
      };
      if (!std::ranges::all_of(child.label, asked)) continue;
      uint64_t before = 0;  // The library's counts are those up to each end.
      for (size_t i = 0; i < sums.counts.size(); ++i) {
        const uint64_t up_to = child.histogram.bucket[i].cumulative_count;
        sums.counts[i] += up_to - before;
        before = up_to;
      }
    }
  }
  return sums;
}

std::string metrics_reference(std::span<const MetricDecl* const> decls, std::span<const std::string_view> stages) {
  std::ostringstream out;
  out << "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricDecl* decl : decls) {
    out << "| `" << decl->name << "` | " << metric_type_name(decl->type) << " | ";
    for (size_t i = 0; i < decl->label_count(); ++i) {
      out << (i == 0 ? "" : "; ") << "`" << decl->labels[i].name << "`";
      const bool of_stage = decl->labels[i].name == "stage" && decl->labels[i].values.empty();
      const std::vector<std::string_view> closed = words_of(decl->labels[i].values);
      const char* separator = ": ";
      for (const std::string_view word : of_stage ? stages : std::span(closed)) {
        out << separator << word;
        separator = ", ";
      }
    }
    out << " | " << decl->help << " |\n";
  }
  return out.str();
}

}  // namespace bloomring
