// The connections that were given to gRPC and are still open.
//
// gRPC closes a connection without telling anybody. So each is remembered by its descriptor and its inode, which no
// two open sockets share, and `sweep` asks the kernel which of them are gone.
// Threading: one thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <unordered_map>

namespace bloomring {

class OpenConnections {
 public:
  void add(int descriptor);
  // Those added and not yet found to be closed: never fewer than are open.
  size_t count() const { return inodes_.size(); }
  // Forgets those that are closed. One system call for each.
  void sweep();

 private:
  std::unordered_map<int, ino_t> inodes_;  // By descriptor.
};

}  // namespace bloomring
