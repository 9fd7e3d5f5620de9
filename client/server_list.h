// Parses a list of servers, as in options and flags.
// Threading: pure function.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

// The servers of a comma-separated list, without surrounding spaces and empty names. An empty list gives one empty
// name, which the caller refuses.
inline std::vector<std::string> split_servers(std::string_view servers) {
  std::vector<std::string> found;
  while (!servers.empty()) {
    const size_t comma = std::min(servers.find(','), servers.size());
    std::string_view server = servers.substr(0, comma);
    servers.remove_prefix(std::min(comma + 1, servers.size()));
    while (server.starts_with(' ')) server.remove_prefix(1);
    while (server.ends_with(' ')) server.remove_suffix(1);
    if (!server.empty()) found.emplace_back(server);
  }
  if (found.empty()) found.emplace_back();
  return found;
}

}  // namespace bloomring
