// The operations page for a terminal: plain text, of bounded length. And as JSON, whole:
//
//   {"page_version":1,"time":"2026-11-02 10:15:00Z","asked":"2026-11-02 10:14:59Z","instance":"host-1",
//    "version":"0.1.0","commit":"0123456789ab","up_seconds":60,"verdict":"READY","ready":true,"alive":true,
//    "parts":[{"part":"window","state":"ready"}],"stages":[...],"trends":[{"figure":"calls_per_second",
//    "last_minute":2.5,"least":0,"most":9,"step_seconds":15,"points":[null,0,9]}],
//    "drains":[{"partition":3,"slot":2}],"jobs":[],"replica":{"index":0,"count":1,"factor":1,"peers":[]},
//    "recent":[{"level":"warning","message":"...","fields":"stage=window","first":"...","last":"...","count":2}],
//    "configuration":"..."}
//
// `stages` are those of /status (pipeline/status/status_json.h), each with "records_per_second" and "lag_records" where
// they are known and "behind_seconds_max". Values of `trends` (pipeline/page/trends.h) are null where nothing was
// measured; "records_per_second" has a "stage". More fields may be added.
// Threading: pure functions.
#pragma once

#include <string>

#include "pipeline/page/ops_report.h"

namespace bloomring {

std::string text_page(const OpsReport& report);
std::string json_page(const OpsReport& report);

}  // namespace bloomring
