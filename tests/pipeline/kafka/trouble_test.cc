#include "pipeline/kafka/trouble.h"

#include <catch2/catch.hpp>

using namespace bloomring::kafka;

namespace {

std::string answered(const std::string& address, const std::string& size) {
  return "[thrd:" + address + "/bootstrap]: " + address + "/bootstrap: Receive failed: Invalid response size " + size +
         " (0..100000000): increase receive.message.max.bytes";
}

}  // namespace

TEST_CASE("trouble: what answers an address and is no broker is told by its first bytes") {
  CHECK(meaning_of(answered("h:1", "1213486160")) == "that port speaks HTTP, and belongs to no Kafka broker");
  CHECK_THAT(meaning_of(answered("h:1", "352518912")), Catch::Contains("expects TLS; set security.protocol"));
  CHECK_THAT(meaning_of(answered("h:1", "1397966893")), Catch::Contains("does not speak Kafka's protocol"));
  CHECK(meaning_of("[thrd:h:1/bootstrap]: h:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused") ==
        "");
  CHECK(meaning_of("") == "");
}

TEST_CASE("trouble: the failure to find a broker names the address with trouble, and no other") {
  CHECK(trouble_with("10.0.0.1:80") == "");
  note_trouble(answered("10.0.0.1:80", "1213486160"));
  CHECK(trouble_with("10.0.0.2:80") == "");
  CHECK(trouble_with("") == "");
  CHECK_THAT(trouble_with("10.0.0.2:80, SSL://10.0.0.1:80"), Catch::StartsWith("10.0.0.1:80: that port speaks HTTP"));
}
