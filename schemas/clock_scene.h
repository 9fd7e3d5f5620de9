// The scene of the events that ingest writes to learn the log's time: serves of a user who does not exist, which the
// merge stage leaves out. Plays and calls of a site must not name this scene, because their events would look like
// ours.
#pragma once

#include <string_view>

namespace bloomring {

inline constexpr std::string_view kClockScene = "bloomring-clock";

}  // namespace bloomring
