#include "serving/server/listeners.h"

#include <netinet/in.h>

#include "tests/support/tcp_client.h"

using namespace bloomring;

namespace {

std::string on(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

bool reaches_over_v6(uint16_t port) {
  const int client = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  address.sin6_port = htons(port);
  const bool reached = ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(client);
  return reached;
}

}  // namespace

TEST_CASE("listeners: port 0 takes a free port, which is then refused to another") {
  const auto first = Listeners::open("127.0.0.1:0");
  REQUIRE(first.ok());
  CHECK(first->port() != 0);
  CHECK(TcpClient().reaches(on(first->port())));
  const auto second = Listeners::open(on(first->port()));
  REQUIRE(second.code() == Code::kInvalid);
  CHECK(second.status().message() ==
        "gRPC cannot listen on " + on(first->port()) + ": is the port taken by another process?");
}

TEST_CASE("listeners: the wildcard of IPv4 is every address, also those of IPv6 where the machine has them") {
  const auto v4 = Listeners::open("0.0.0.0:0");
  REQUIRE(v4.ok());
  CHECK(TcpClient().reaches(on(v4->port())));
  const auto loopback_v6 = Listeners::open("[::1]:0");
  CHECK(reaches_over_v6(v4->port()) == loopback_v6.ok());
  CHECK(Listeners::open(on(v4->port())).code() == Code::kInvalid);
}

TEST_CASE("listeners: a name is each of its addresses, with one port") {
  const auto all = Listeners::open("localhost:0");
  REQUIRE(all.ok());
  CHECK(TcpClient().reaches(on(all->port())));
  if (all->sockets().size() > 1) CHECK(reaches_over_v6(all->port()));
}

TEST_CASE("listeners: after the end nobody reaches the port") {
  auto listeners = Listeners::open("127.0.0.1:0");
  const uint16_t port = listeners->port();
  Listeners moved = std::move(listeners).value();
  CHECK(TcpClient().reaches(on(port)));
  moved.close();
  CHECK_FALSE(TcpClient().reaches(on(port)));
}

TEST_CASE("listeners: an address of another machine and an unknown host are refused with the reason") {
  CHECK(Listeners::open("192.0.2.1:0").status().message() ==
        "gRPC cannot listen on 192.0.2.1:0: Cannot assign requested address");
  CHECK(Listeners::open("no-such-host.invalid:0").code() == Code::kInvalid);
  CHECK(Listeners::open("nonsense").code() == Code::kInvalid);
}
