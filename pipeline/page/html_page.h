// The operations page as HTML: one document without scripts, that loads nothing else.
//
// Guarantees: below kHtmlBytesMax, however many partitions, errors and keys there are: each list ends at a bound and
// says how many rows it leaves out. All text of the report is escaped.
// Threading: pure functions.
#pragma once

#include <string>

#include "pipeline/page/ops_report.h"

namespace bloomring {

inline constexpr size_t kHtmlBytesMax = 100'000;

std::string html_page(const OpsReport& report);

}  // namespace bloomring
