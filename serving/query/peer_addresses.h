// The addresses of the replicas of the query service, as a site configures them.
//
// Either one pattern with {index} ("bloomring-serve-{index}.bloomring-serve:7700", as the pods of a StatefulSet are
// named), or one address for each replica, in the order of their indices. Empty: the other replicas are unknown.
// Threading: a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bloomring {

inline constexpr std::string_view kPeerIndex = "{index}";

inline bool is_peer_pattern(const std::vector<std::string>& peers) {
  return peers.size() == 1 && peers[0].find(kPeerIndex) != std::string::npos;
}

// The address of replica `index`; empty when it is not known.
inline std::string peer_address(const std::vector<std::string>& peers, uint32_t index) {
  if (!is_peer_pattern(peers)) return index < peers.size() ? peers[index] : std::string();
  std::string address = peers[0];
  for (size_t at; (at = address.find(kPeerIndex)) != std::string::npos;) {
    address.replace(at, kPeerIndex.size(), std::to_string(index));
  }
  return address;
}

}  // namespace bloomring
