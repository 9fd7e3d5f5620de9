// The scene of events that ingest writes to hear the log's time: serves of nobody, merged into nothing. No site's plays
// and calls may name it: what is served, played or forgotten there would be taken for bloomring's own.
#pragma once

#include <string_view>

namespace bloomring {

inline constexpr std::string_view kClockScene = "bloomring-clock";

}  // namespace bloomring
