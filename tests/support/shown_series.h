// Shows one set of numbers by its table, as a scrape does.
#pragma once

#include "base/metrics/metrics.h"
#include "base/metrics/series_table.h"

namespace bloomring::testing {

template <typename Stats>
struct ShownSeries {
  // Borrows both.
  ShownSeries(const SeriesTable<Stats>& table, const Stats& stats)
      : registration(metrics.on_scrape([&table, &stats](Scrape& scrape) { write_all(scrape, table, stats); })) {}
  double operator()(const MetricDecl& decl, LabelValues labels = {}) const { return metrics.value(decl, labels); }

  Metrics metrics;
  Metrics::Registration registration;
};

}  // namespace bloomring::testing
