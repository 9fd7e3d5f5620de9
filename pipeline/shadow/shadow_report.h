// The report of a comparison, as JSON for programs and as text for people.
//
//   {"seconds":60.1,"stopped":false,
//    "queries":{"compared":6000,"refused":0,"dropped":0,"unlike":0,"failed_old":0,"failed_new":0,"incomplete":0},
//    "candidates":{"compared":12000000,"seen":1900000,"unseen":10000000},
//    "explained":{"expired":12,"false_positive":31},"refused":{"not_a_time":1},
//    "unexplained":{"missing":0,"false_positives_above_rate":false,"old_errors_above_rate":false},
//    "false_positives":{"asked":900000,"found":31,"expected":30.2,"most":9000.0},
//    "latency_ms":{"old":{"p50":0.8,"p90":1.1,"p99":2.5,"max":9.0},"new":{...}}}
//
// Threading: pure functions.
#pragma once

#include <string>

#include "pipeline/shadow/shadow_comparer.h"
#include "pipeline/shadow/shadow_run.h"

namespace bloomring {

std::string shadow_json(const ShadowEnd& end, const ShadowComparer& comparer);
std::string shadow_text(const ShadowEnd& end, const ShadowComparer& comparer);

}  // namespace bloomring
