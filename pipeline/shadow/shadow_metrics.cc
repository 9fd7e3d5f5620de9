#include "pipeline/shadow/shadow_metrics.h"

namespace bloomring {

const SeriesTable<ShadowCounts>& shadow_series() {
  static const SeriesTable<ShadowCounts> kTable = [] {
    SeriesTable<ShadowCounts> table = {{&metric::kShadowQueries, {"compared"}, &ShadowCounts::compared},
                                       {&metric::kShadowQueries, {"dropped"}, &ShadowCounts::dropped},
                                       {&metric::kShadowQueries, {"refused"}, &ShadowCounts::refused},
                                       {&metric::kShadowQueries, {"unlike"}, &ShadowCounts::unlike},
                                       {&metric::kShadowQueries, {"failed_old"}, &ShadowCounts::failed_old},
                                       {&metric::kShadowQueries, {"failed_new"}, &ShadowCounts::failed_new},
                                       {&metric::kShadowQueries, {"incomplete"}, &ShadowCounts::incomplete}};
    for (size_t i = 0; i < kShadowResultCount; ++i) {
      const auto result = static_cast<ShadowResult>(i);
      if (result == ShadowResult::kDoubt) continue;  // It shrinks, and a counter never does.
      table.push_back({&metric::kShadowCandidates, {shadow_result_name(result)},
                       [result](const ShadowCounts& counts) { return static_cast<double>(counts.of(result)); }});
    }
    return table;
  }();
  return kTable;
}

}  // namespace bloomring
