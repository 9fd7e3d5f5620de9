#include "base/host/addresses.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("addresses: a number is itself with its port, and an unknown name has the resolver's reason") {
  const auto found = resolve("127.0.0.1", 9600, AddressUse::kConnect);
  REQUIRE(found.ok());
  REQUIRE((*found)->ai_family == AF_INET);
  CHECK((*found)->ai_socktype == SOCK_STREAM);
  const auto& address = reinterpret_cast<const sockaddr_in&>(*(*found)->ai_addr);
  CHECK(ntohs(address.sin_port) == 9600);
  CHECK(ntohl(address.sin_addr.s_addr) == INADDR_LOOPBACK);
  CHECK(resolve("::1", 1, AddressUse::kListen).value()->ai_family == AF_INET6);
  const auto none = resolve("no host at all", 1, AddressUse::kConnect);
  CHECK(none.code() == Code::kInvalid);
  CHECK_FALSE(none.status().message().empty());
}

TEST_CASE("addresses: the port of a socket is the one that the system gave it; other files have none") {
  for (const std::string host : {"127.0.0.1", "::1"}) {
    const auto found = resolve(host, 0, AddressUse::kListen);
    REQUIRE(found.ok());
    const int socket = ::socket((*found)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // A machine may be without IPv6.
    if (::bind(socket, (*found)->ai_addr, (*found)->ai_addrlen) == 0) CHECK(local_port(socket) > 0);
    ::close(socket);
  }
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(local_port(pair[0]) == 0);
  for (const int end : pair) ::close(end);
  CHECK(local_port(-1) == 0);
}
