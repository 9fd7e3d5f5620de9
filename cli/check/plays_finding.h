// Judges how ingest would treat the newest plays of a topic, for `bloomring check`.
//
// Pure: records in, findings and counts out.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"
#include "pipeline/topics/newest_plays.h"

namespace bloomring {

// The records of one topic, counted by ingest's decision.
struct PlaysRead {
  std::string topic;
  uint64_t read = 0;  // The sum of the others.
  uint64_t plays = 0;
  uint64_t serves_and_forgets = 0;
  uint64_t ignored_kind = 0;  // Skipped by events.kinds.
  uint64_t short_view = 0;    // Skipped by the rule of views.
  uint64_t refused = 0;
};
// "topic video-plays: 100 read, of which 60 are plays, 2 serves or forgets, 30 of ignored kinds, 5 short views, 3
// refused"; without records: "topic video-plays: nothing was read, it is empty".
std::string to_string(const PlaysRead& read);

// Lines (base/config/finding.h). It is an error when more than `refused_share_max` of the records are refused, or all;
// below RefusalWatch::kRecordsMin records only when all are.
struct PlaysFinding {
  PlaysRead read;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // Some would be refused, or the mapping probably misreads them.
};
PlaysFinding judge_plays(const std::string& topic, std::span<const NewestPlay> plays, const EventSettings& events,
                         double refused_share_max, int64_t now_ms);

}  // namespace bloomring
