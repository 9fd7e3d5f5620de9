// What ingest would make of the newest plays of a topic: for `bloomring check`.
//
// Pure: records in, findings and counts out. Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"
#include "pipeline/topics/newest_plays.h"

namespace bloomring {

// Records of one topic, by what ingest would make of them.
struct PlaysRead {
  std::string topic;
  uint64_t read = 0;  // The sum of the others.
  uint64_t plays = 0;
  uint64_t serves_and_forgets = 0;
  uint64_t ignored_kind = 0;  // Skipped, as events.kinds says.
  uint64_t short_view = 0;    // Skipped, by the rule of views.
  uint64_t refused = 0;
};
// "topic video-plays: 100 read, of which 60 are plays, 2 serves or forgets, 30 of ignored kinds, 5 short views, 3
// refused"; of none: "topic video-plays: nothing was read, it is empty".
std::string to_string(const PlaysRead& read);

// Lines (base/config/finding.h). More refused than `refused_share_max`, or all, is an error; below
// RefusalWatch::kRecordsMin records only the latter.
struct PlaysVerdict {
  PlaysRead read;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // Some would be refused, or are probably not what the mapping takes them for.
};
PlaysVerdict judge_plays(const std::string& topic, std::span<const NewestPlay> plays, const EventSettings& events,
                         double refused_share_max, int64_t now_ms);

}  // namespace bloomring
