// Shows one set of numbers by its table, as a scrape does.
#pragma once

#include <set>
#include <string_view>

#include "base/metrics/metrics.h"
#include "base/metrics/series_table.h"

namespace bloomring::testing {

template <typename Stats>
struct ShownSeries {
  // Borrows both.
  ShownSeries(const SeriesTable<Stats>& rows, const Stats& stats)
      : table(rows),
        registration(metrics.on_scrape([&rows, &stats](Scrape& scrape) { write_all(scrape, rows, stats); })) {}
  double operator()(const MetricDecl& decl, LabelValues labels = {}) {
    asked.insert(decl.name);
    return metrics.value(decl, labels);
  }
  // Of the metrics in the table, those that no call has asked for: a test of a whole table expects none.
  std::set<std::string_view> unasked() const {
    std::set<std::string_view> names;
    for (const SeriesRow<Stats>& row : table) {
      if (!asked.contains(row.decl->name)) names.insert(row.decl->name);
    }
    return names;
  }

  const SeriesTable<Stats>& table;
  std::set<std::string_view> asked;
  Metrics metrics;
  Metrics::Registration registration;
};

}  // namespace bloomring::testing
