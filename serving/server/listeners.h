// The sockets that listen on an address.
//
// As gRPC does it: 0.0.0.0 and [::] mean every address of this machine, IPv4 and IPv6, and a name means every address
// that it resolves to.
// Threading: values; movable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace bloomring {

class Listeners {
 public:
  // Non-blocking sockets on "host:port"; with port 0 the system chooses one, and all sockets share it.
  // Errors: kInvalid when the port is taken, the host is unknown, or nothing can listen there.
  static Result<Listeners> open(const std::string& address);
  Listeners() = default;
  Listeners(Listeners&& other) noexcept { *this = std::move(other); }
  Listeners& operator=(Listeners&& other) noexcept;
  ~Listeners() { close(); }

  const std::vector<int>& sockets() const { return sockets_; }
  uint16_t port() const { return port_; }
  // Connections that nobody accepted are reset.
  void close();

 private:
  std::vector<int> sockets_;
  uint16_t port_ = 0;
};

}  // namespace bloomring
