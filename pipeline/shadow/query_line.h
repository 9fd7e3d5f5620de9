// A query of a site as a line of JSON:
//
//   {"user":"17","scene":"feed","candidates":["v1","v2",4711]}
//
// Ids are strings or integers, as in plays; `scene` may be absent, and other fields are ignored.
// Errors: kBadRecord with the reason.
// Threading: pure function.
#pragma once

#include <string_view>

#include "base/result.h"
#include "client/filter_call.h"

namespace bloomring {

inline constexpr size_t kQueryCandidatesMax = 20'000;

Result<FilterCall> parse_query_line(std::string_view line);

}  // namespace bloomring
