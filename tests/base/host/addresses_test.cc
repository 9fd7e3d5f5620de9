#include "base/host/addresses.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>

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

namespace {

// A connection that was accepted at this address, from that one.
std::optional<std::string> network_at(const std::string& listens, const std::string& from) {
  const auto at = resolve(listens, 0, AddressUse::kListen), of = resolve(from, 0, AddressUse::kConnect);
  const int listener = ::socket((*at)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = ::socket((*of)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int both = 0;
  ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);  // Fails for IPv4.
  std::optional<std::string> network;
  if (::bind(listener, (*at)->ai_addr, (*at)->ai_addrlen) == 0 && ::listen(listener, 1) == 0 &&
      ::bind(client, (*of)->ai_addr, (*of)->ai_addrlen) == 0) {
    const auto to = resolve(listens == "::" ? from : listens, local_port(listener), AddressUse::kConnect);
    REQUIRE(::connect(client, (*to)->ai_addr, (*to)->ai_addrlen) == 0);
    const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    network = network_of(accepted);
    ::close(accepted);
  }
  for (const int socket : {listener, client}) ::close(socket);
  return network;
}

}  // namespace

TEST_CASE("addresses: connections of one host are of one network, also over IPv6, and those of another are not") {
  const auto one = network_at("127.0.0.1", "127.0.0.1"), another = network_at("127.0.0.1", "127.0.0.2");
  REQUIRE(one);
  REQUIRE(another);
  CHECK(*one == std::string("\x7f\0\0\1", 4));
  CHECK(*another == std::string("\x7f\0\0\2", 4));
  // A machine may be without IPv6.
  if (const auto v6 = network_at("::1", "::1")) CHECK(*v6 == std::string(8, '\0'));
  if (const auto mapped = network_at("::", "127.0.0.2")) CHECK(*mapped == *another);
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK_FALSE(network_of(pair[0]));
  for (const int end : pair) ::close(end);
  CHECK_FALSE(network_of(-1));
}
