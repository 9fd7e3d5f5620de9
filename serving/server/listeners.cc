#include "serving/server/listeners.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/config/listen_address.h"
#include "base/host/addresses.h"

namespace bloomring {

namespace {

constexpr int kBacklog = 4'096;  // The kernel lowers it to net.core.somaxconn.

bool is_every_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

void set_port(sockaddr& address, uint16_t port) {
  if (address.sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
}

void set(int socket, int level, int option, int value) { ::setsockopt(socket, level, option, &value, sizeof value); }

// A socket that listens there, or minus errno.
int open_socket(const sockaddr* address, socklen_t size, bool both_families) {
  const int socket = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -errno;
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address->sa_family == AF_INET6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? 0 : 1);
  if (::bind(socket, address, size) == 0 && ::listen(socket, kBacklog) == 0) return socket;
  const int error = errno;
  ::close(socket);
  return -error;
}

int open_every_address(uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const int both = open_socket(reinterpret_cast<const sockaddr*>(&v6), sizeof v6, true);
  if (both >= 0 || both == -EADDRINUSE) return both;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  return open_socket(reinterpret_cast<const sockaddr*>(&v4), sizeof v4, false);
}

Status refused(const std::string& address, int error) {
  if (error == EADDRINUSE)
    return invalid("gRPC cannot listen on " + address + ": is the port taken by another process?");
  return invalid("gRPC cannot listen on " + address + ": " + std::strerror(error));
}

}  // namespace

Listeners& Listeners::operator=(Listeners&& other) noexcept {
  std::swap(sockets_, other.sockets_);
  std::swap(port_, other.port_);
  return *this;
}

void Listeners::close() {
  for (const int socket : std::exchange(sockets_, {})) ::close(socket);
}

Result<Listeners> Listeners::open(const std::string& address) {
  BLOOMRING_TRY_ASSIGN(const ListenAddress wanted, parse_listen_address(address));
  Listeners all;
  if (is_every_address(wanted.host)) {
    const int socket = open_every_address(wanted.port);
    if (socket < 0) return refused(address, -socket);
    all.sockets_.push_back(socket);
    all.port_ = local_port(socket);
    return all;
  }
  const auto found = resolve(wanted.host, wanted.port, AddressUse::kListen);
  if (!found.ok()) return invalid("gRPC cannot listen on " + address + ": " + found.status().message());
  int error = 0;
  for (addrinfo* one = found->get(); one != nullptr; one = one->ai_next) {
    if (all.port_ != 0) set_port(*one->ai_addr, all.port_);
    const int socket = open_socket(one->ai_addr, one->ai_addrlen, false);
    if (socket == -EADDRINUSE) return refused(address, EADDRINUSE);
    if (socket < 0) {
      error = -socket;
      continue;
    }
    all.sockets_.push_back(socket);
    all.port_ = local_port(socket);
  }
  if (all.sockets_.empty()) return refused(address, error);
  return all;
}

}  // namespace bloomring
