// All metrics of the product, joined from the lists of the rooms that declare them. A declaration that is in no list is
// in no reference page; tests/repo/test_metric_lists.py finds it.
#pragma once

#include <span>

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

// In the order of the flow.
std::span<const MetricDecl* const> all();

}  // namespace bloomring::metric
