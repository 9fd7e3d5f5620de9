#include "serving/server/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace bloomring;

namespace {

constexpr const char* kHost = "one host";

std::array<int, 2> pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  return ends;
}

}  // namespace

TEST_CASE("open connections: those that are closed are forgotten by a sweep, the others stay") {
  OpenConnections open;
  const auto [left, right] = pair();
  open.add(left, kHost);
  open.add(right, kHost);
  open.sweep();
  CHECK(open.count() == 2);
  ::close(left);
  CHECK(open.count() == 2);
  open.sweep();
  CHECK(open.count() == 1);
  ::close(right);
  open.sweep();
  CHECK(open.count() == 0);
}

TEST_CASE("open connections: a number that another file or socket has now is no open connection") {
  OpenConnections open;
  const auto first = pair();
  for (const int end : first) open.add(end, kHost);
  const auto second = pair();
  REQUIRE(::dup2(second[0], first[0]) == first[0]);
  const int file = ::open("/dev/null", O_RDONLY);
  REQUIRE(::dup2(file, first[1]) == first[1]);
  open.sweep();
  CHECK(open.count() == 0);
  for (const int one : {first[0], first[1], second[0], second[1], file}) ::close(one);
}

TEST_CASE("open connections: a number that is given out again counts once") {
  OpenConnections open;
  const auto first = pair();
  open.add(first[0], kHost);
  const auto second = pair();
  REQUIRE(::dup2(second[0], first[0]) == first[0]);
  open.add(first[0], kHost);
  open.sweep();
  CHECK(open.count() == 1);
  for (const int one : {first[0], first[1], second[0], second[1]}) ::close(one);
}

namespace {

// Pairs of which the second ends are connections of these hosts; tells which of the first ends were hung up on.
struct Hosts {
  explicit Hosts(const std::vector<std::string>& networks) {
    for (const std::string& network : networks) {
      pairs.push_back(pair());
      open.add(pairs.back()[1], network);
    }
  }
  ~Hosts() {
    for (const auto& [first, second] : pairs) {
      ::close(first);
      ::close(second);
    }
  }
  std::vector<size_t> ended() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < pairs.size(); ++i) {
      char byte = 0;
      if (::recv(pairs[i][0], &byte, 1, MSG_DONTWAIT) == 0) found.push_back(i);
    }
    return found;
  }

  OpenConnections open;
  std::vector<std::array<int, 2>> pairs;
};

using Ended = std::vector<size_t>;

}  // namespace

TEST_CASE("open connections: room for a newcomer is the newest one of the host with most") {
  Hosts hosts({"greedy", "modest", "greedy", "greedy", "modest"});
  CHECK(hosts.open.make_room("another"));
  CHECK(hosts.ended() == Ended{3});
  CHECK(hosts.open.count() == 4);
  CHECK(hosts.open.make_room("another"));  // Both have two; it takes from either.
  CHECK(hosts.open.count() == 3);
}

TEST_CASE("open connections: a host gets no room from one that has as many, or would then have fewer") {
  Hosts hosts({"greedy", "greedy", "modest"});
  CHECK_FALSE(hosts.open.make_room("greedy"));
  CHECK_FALSE(hosts.open.make_room("modest"));
  CHECK(hosts.open.make_room("another"));
  CHECK_FALSE(hosts.open.make_room("another"));
  CHECK(hosts.ended() == Ended{1});
  CHECK_FALSE(OpenConnections().make_room("another"));
}

TEST_CASE("open connections: where the newest one is closed already, room costs nobody a connection") {
  Hosts hosts({"greedy", "greedy", "greedy"});
  const auto other = pair();
  REQUIRE(::dup2(other[0], hosts.pairs[2][1]) == hosts.pairs[2][1]);
  CHECK(hosts.open.make_room("another"));
  CHECK(hosts.open.count() == 2);
  CHECK(hosts.ended() == Ended{2});  // It was closed by itself.
  char byte = 0;
  CHECK(::recv(other[1], &byte, 1, MSG_DONTWAIT) == -1);  // The one that has its number now goes on.
  for (const int one : other) ::close(one);
}

TEST_CASE("open connections: a number that comes again with another host counts for that one alone") {
  Hosts hosts({"greedy", "greedy", "greedy", "modest"});
  hosts.open.add(hosts.pairs[0][1], "modest");
  CHECK(hosts.open.count() == 4);
  CHECK_FALSE(hosts.open.make_room("modest"));
  hosts.open.sweep();
  CHECK(hosts.open.count() == 4);
}
