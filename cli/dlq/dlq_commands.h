// `bloomring dlq`, as a function of its arguments. Exit codes as in cli/commands.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/jobs/job_commands.h"

namespace bloomring::cli {

enum class DlqAction : uint8_t { kList, kShow, kReplay };
struct DlqArgs : JobArgs {
  DlqAction what = DlqAction::kList;
  std::vector<std::string> reasons;  // Empty: all.
  std::string since, until;          // As parse_when takes them; empty: unbounded.
  std::string topic;                 // Of the refused records; empty: any.
  int32_t partition = -1;            // Of that topic; -1: any.
  std::string at;                    // For show: one letter, "PARTITION:OFFSET" in the topic of dead letters.
  uint32_t newest = 10;              // For show.
  std::string raw;                   // For show: the file that gets the value.
  std::string to;                    // For replay: another topic; empty: each letter to its own.
  uint32_t attempts = 3;             // For replay.
};
int dlq_command(const DlqArgs& args);

}  // namespace bloomring::cli
