// Where a server listens: "host:port", "[::1]:port" for IPv6. Port 0 asks for any free port.
// Threading: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

struct ListenAddress {
  std::string host;  // Without the brackets of IPv6; never empty.
  uint16_t port = 0;

  std::string to_string() const;
  // The address at which this machine reaches the server: loopback where the server listens on every address.
  ListenAddress reachable() const;
  // True where only this machine reaches the server: "localhost", 127.0.0.0/8 and ::1.
  bool is_loopback() const;
};

// kInvalid for anything but a host and a port in [0, 65535].
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace bloomring
