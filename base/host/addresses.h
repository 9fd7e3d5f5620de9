// Addresses of the network: those of a host's name, and the port of a socket.
//
// Threading: thread safe. `resolve` may wait for a name server.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace bloomring {

struct FreeAddresses {
  void operator()(addrinfo* first) const { ::freeaddrinfo(first); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;  // A list; never empty.

enum class AddressUse : uint8_t { kConnect, kListen };

// The addresses of a host, by name or number, for TCP.
// Errors: kInvalid with the resolver's words alone.
Result<Addresses> resolve(const std::string& host, uint16_t port, AddressUse use);

// The port to which a socket of IPv4 or IPv6 is bound; 0 for every other file.
uint16_t local_port(int socket);

}  // namespace bloomring
