// One mistake, or probable mistake, in the set-up, split into its parts.
//
// Messages about the set-up are lines of one form, for people and scripts alike:
//
//   [PLACE: ]REASON[; WAY OUT]      site.yaml:3: ring.slots is 99; it must be an integer in [3, 64]
//
// PLACE is where the value was set: a file with the line, a variable of the environment, a flag. REASON names the key,
// which is a word with dots, or the topic. Its value follows "is", "has" or "holds".
// Threading: values and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bloomring {

struct SetupFinding {
  std::string key;      // "ring.slots", "topic user-events"; empty where the line names none.
  std::string value;    // As it was given; empty where the line says none, as for secrets.
  std::string reason;   // "ring.slots is 99".
  std::string way_out;  // "it must be an integer in [3, 64]"; "correct KEY" where the line has none.
  std::string place;    // "site.yaml:3", "BLOOMRING_RING_SLOTS", "--set ring.slots"; empty where the line has none.
  std::string text;     // The line.
};

SetupFinding finding_of(std::string_view line);
// One for each line of the message; none for success.
std::vector<SetupFinding> findings_of(const Status& status);

}  // namespace bloomring
