// Plays from a file, for `bloomring dev` and `load`: JSON lines as producers write them, or tab-separated values with a
// header line that names user_id, video_id and time_ms (further columns are ignored).
// Errors: kInvalid with the file, the line and the expected form.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "schemas/json/play_json.h"

namespace bloomring {

struct FilePlay {
  std::string user;
  std::string item;
  int64_t time_ms = 0;
};

struct PlayFile {
  std::vector<FilePlay> plays;                          // In the order of the file; empty for JSON lines.
  std::vector<std::string> json;                        // One record each, in the same order, in the site's format.
  std::map<std::string, std::set<std::string>> played;  // The exact set of each user; known for TSV only.
};

// "-" is standard input. `shift_to_ms`: shifts event times so that the newest is this; 0: no shift.
Result<PlayFile> read_play_file(const std::string& path, int64_t shift_to_ms, const PlayMapping& mapping);

}  // namespace bloomring
