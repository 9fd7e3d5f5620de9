#include "base/config/listen_address.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("listen address: host and port, with brackets around IPv6") {
  CHECK(parse_listen_address("0.0.0.0:9600")->host == "0.0.0.0");
  CHECK(parse_listen_address("0.0.0.0:9600")->port == 9600);
  CHECK(parse_listen_address("[::1]:0")->host == "::1");
  for (const char* text : {"127.0.0.1:0", "localhost:65535", "[::]:80"}) {
    CHECK(parse_listen_address(text)->to_string() == text);
  }
}

TEST_CASE("listen address: anything else is refused") {
  for (const char* text :
       {"", ":", "9600", ":9600", "host:", "host:x", "host:65536", "host:-1", "::1:80", "a b:1", "[]:1", "a,b:1"}) {
    INFO(text);
    CHECK(parse_listen_address(text).code() == Code::kInvalid);
  }
}

TEST_CASE("listen address: loopback is reached by this machine alone") {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) {
    INFO(text);
    CHECK(parse_listen_address(text)->is_loopback());
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "127.0.0.1.evil:1", "127.example:1"}) {
    INFO(text);
    CHECK_FALSE(parse_listen_address(text)->is_loopback());
  }
}

TEST_CASE("listen address: a server on every address is reached by loopback, another one where it listens") {
  CHECK(parse_listen_address("0.0.0.0:7700")->reachable().to_string() == "127.0.0.1:7700");
  CHECK(parse_listen_address("[::]:7700")->reachable().to_string() == "[::1]:7700");
  CHECK(parse_listen_address("10.0.0.1:7700")->reachable().to_string() == "10.0.0.1:7700");
}
