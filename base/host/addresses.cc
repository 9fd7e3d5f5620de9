#include "base/host/addresses.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace bloomring {

Result<Addresses> resolve(const std::string& host, uint16_t port, AddressUse use) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (use == AddressUse::kListen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int unknown = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  Addresses addresses(found);
  if (unknown != 0) return invalid(::gai_strerror(unknown));
  return addresses;
}

uint16_t local_port(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  if (name.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(name).sin_port);
  return name.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(name).sin6_port) : uint16_t{0};
}

std::optional<std::string> network_of(int socket) {
  constexpr size_t kMappedAt = 12, kNetworkBytes = 8;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return std::nullopt;
  if (peer.ss_family == AF_INET) {
    const in_addr& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return std::string(reinterpret_cast<const char*>(&address), sizeof address);
  }
  if (peer.ss_family != AF_INET6) return std::nullopt;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  const std::string bytes(reinterpret_cast<const char*>(&address), sizeof address);
  return IN6_IS_ADDR_V4MAPPED(&address) ? bytes.substr(kMappedAt) : bytes.substr(0, kNetworkBytes);
}

}  // namespace bloomring
