// Findings on the settings of the servers that keep a filter store: whether they keep what they are given.
// A value.
#pragma once

#include <string>
#include <vector>

namespace bloomring {

// Each line names a server, and the way out behind "; ".
struct ServerFindings {
  std::vector<std::string> refusals;  // Filters would be lost without a word.
  std::vector<std::string> warnings;  // Filters are lost in a fault that usually costs none.
  std::vector<std::string> unknown;   // The server does not say.
};

}  // namespace bloomring
