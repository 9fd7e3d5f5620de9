// The connections that were given to gRPC and are still open.
//
// gRPC closes a connection without telling anybody. So each is remembered by its descriptor and its inode, which no
// two open sockets share, and `sweep` asks the kernel which of them are gone.
// Guarantees: one host cannot keep others out by holding all connections. Where a newcomer's host has fewer than the
// host with most, `make_room` ends one of the latter's, so that hosts that want them come to have equally many. Its
// newest one: those that it has had for long are the likeliest to be of use.
// Threading: one thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bloomring {

class OpenConnections {
 public:
  // `network` tells the host (base/host/addresses.h, network_of).
  void add(int descriptor, const std::string& network);
  // Those added and not yet found to be closed: never fewer than are open, but for those that were ended for others.
  size_t count() const { return connections_.size(); }
  // Forgets those that are closed. One system call for each.
  void sweep();
  // Forgets a connection of the host with most of them: one that is closed, or else one that it ends for this. False
  // where the newcomer's host would then have more than that one.
  bool make_room(const std::string& newcomer);

 private:
  struct Connection {
    ino_t inode;
    std::map<std::string, std::vector<int>>::iterator of;
  };
  void forget(int descriptor);

  std::unordered_map<int, Connection> connections_;        // By descriptor.
  std::map<std::string, std::vector<int>> by_network_;  // Descriptors, the oldest first; none is empty.
};

}  // namespace bloomring
