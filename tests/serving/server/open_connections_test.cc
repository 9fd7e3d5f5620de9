#include "serving/server/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::array<int, 2> pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  return ends;
}

}  // namespace

TEST_CASE("open connections: those that are closed are forgotten by a sweep, the others stay") {
  OpenConnections open;
  const auto [left, right] = pair();
  open.add(left);
  open.add(right);
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
  for (const int end : first) open.add(end);
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
  open.add(first[0]);
  const auto second = pair();
  REQUIRE(::dup2(second[0], first[0]) == first[0]);
  open.add(first[0]);
  open.sweep();
  CHECK(open.count() == 1);
  for (const int one : {first[0], first[1], second[0], second[1]}) ::close(one);
}
