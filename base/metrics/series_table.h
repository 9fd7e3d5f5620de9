// The series of a struct of numbers as a table: a row for each number, instead of a line of code.
//
//   const SeriesTable<CacheStats> kTable = {{&metric::kLookups, {"hit"}, &CacheStats::hits},
//                                           {&metric::kLookups, {"miss"}, &CacheStats::misses}};
//   write_all(scrape, kTable, cache.stats());
// Threading: values.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/metrics/metric_decl.h"

namespace bloomring {

template <typename Stats>
struct SeriesRow {
  const MetricDecl* decl;
  std::vector<std::string_view> labels;        // In the order of the declaration. Their bytes outlive the table.
  std::function<double(const Stats&)> number;  // A member or a function of one.
};

template <typename Stats>
using SeriesTable = std::vector<SeriesRow<Stats>>;

// Writes a series for each row. `scrape` is a Scrape (base/metrics/metrics.h).
template <typename AScrape, typename Stats>
void write_all(AScrape& scrape, const SeriesTable<Stats>& table, const Stats& stats) {
  for (const SeriesRow<Stats>& row : table) scrape.write_series(*row.decl, row.labels, row.number(stats));
}

}  // namespace bloomring
