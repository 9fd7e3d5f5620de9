// Addresses of the network: those of a host's name, the port of a socket, and the host at its other end.
//
// Threading: thread safe. `resolve` may wait for a name server.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <optional>
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

// The host at the other end of a connection of IPv4 or IPv6, as bytes that compare equal for connections of one host:
// its address of IPv4, or the first 64 bits of its address of IPv6, which a site hands out to one host as a whole.
// Nothing for a connection that the other end has reset, and for every other file.
std::optional<std::string> network_of(int socket);

}  // namespace bloomring
