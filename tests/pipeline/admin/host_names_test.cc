#include "pipeline/admin/host_names.h"

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("host names: an address, localhost and this host are allowed with any port, and a request that names none") {
  const HostNames names;
  for (const char* header : {"127.0.0.1", "127.0.0.1:9600", "10.1.2.3:80", "[::1]:9600", "[fd00::7]", "localhost",
                             "localhost:9600", "LocalHost:1"}) {
    INFO(header);
    CHECK(names.allow(header));
  }
  char own[256] = {};
  REQUIRE(gethostname(own, sizeof own - 1) == 0);
  CHECK(names.allow((std::string(own) + ":9600").c_str()));
  CHECK(names.allow(nullptr));
}

TEST_CASE("host names: any other name is refused, also one that looks like an address or begins as an allowed one") {
  const HostNames names;
  for (const char* header :
       {"evil.example", "evil.example:9600", "127.0.0.1.evil.example", "localhost.evil.example", "1.2.3", "0x7f.1",
        "[evil.example]", "[::1", "", ":9600", "localhost@evil.example"}) {
    INFO(header);
    CHECK_FALSE(names.allow(header));
  }
}

TEST_CASE("host names: a name that was configured is allowed, its domains and parts are not") {
  const HostNames names({"Bloomring.internal"});
  CHECK(names.allow("bloomring.internal:9600"));
  CHECK(names.allow("BLOOMRING.INTERNAL"));
  CHECK_FALSE(names.allow("a.bloomring.internal"));
  CHECK_FALSE(names.allow("internal"));
}
