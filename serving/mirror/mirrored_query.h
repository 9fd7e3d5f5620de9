// The query in a copy of a Filter call, with its ids as text.
//
// A candidate with several ids becomes as many candidates. `client_seen`, `min_keep`, `strict` and `explain` are left
// out: they say how to answer, not what is known of the user.
// Errors: kBadRecord, as request_codec.h.
// Threading: pure function.
#pragma once

#include "base/result.h"
#include "bloomring/v1/bloomring.pb.h"
#include "client/filter_call.h"
#include "serving/service/request_codec.h"

namespace bloomring {

Result<FilterCall> mirrored_query(const v1::FilterRequest& request, const RequestLimits& limits);

}  // namespace bloomring
