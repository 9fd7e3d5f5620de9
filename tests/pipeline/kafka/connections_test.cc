#include "pipeline/kafka/connections.h"

#include <catch2/catch.hpp>
#include <string>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/statistics.h"

using namespace bloomring;
using namespace bloomring::kafka;

namespace {

std::string broker(int node, const std::string& state, int connects, int disconnects, int rtt_us) {
  const std::string id = std::to_string(node);
  return R"("b)" + id + R"(":{"name":"b","nodeid":)" + id + R"(,"state":")" + state + R"(","connects":)" +
         std::to_string(connects) + R"(,"disconnects":)" + std::to_string(disconnects) +
         R"(,"rtt":{"min":1,"avg":)" + std::to_string(rtt_us) + "}}";
}

std::string of_brokers(const std::string& brokers) {
  return R"({"name":"c","brokers":{)" + brokers + R"(},"topics":{"t":{"partitions":{"0":{"brokers":7}}}}})";
}

ClientHandle client() {
  auto made = make_client(bare_conf(), RD_KAFKA_PRODUCER);
  REQUIRE(made.ok());
  return std::move(made).value();
}

}  // namespace

TEST_CASE("connections: those of all clients are summed, and a client that is gone leaves its lost ones alone") {
  const Connections before = connections();
  ClientHandle one = client();
  const ClientHandle other = client();
  take_statistics(one.get(), of_brokers(broker(1, "UP", 1, 0, 800) + "," + broker(2, "TRY_CONNECT", 3, 3, 0)));
  take_statistics(other.get(), of_brokers(broker(1, "UP", 2, 1, 2500)));
  Connections now = connections();
  CHECK(now.up == before.up + 2);
  CHECK(now.down == before.down + 1);
  CHECK(now.disconnects == before.disconnects + 4);
  CHECK(now.round_trip_seconds == Approx(0.0025));
  take_statistics(one.get(), of_brokers(broker(1, "UP", 1, 0, 800) + "," + broker(2, "UP", 4, 3, 900)));
  now = connections();
  CHECK(now.up == before.up + 3);
  CHECK(now.down == before.down);
  one.reset();
  now = connections();
  CHECK(now.up == before.up + 1);
  CHECK(now.disconnects == before.disconnects + 4);
}

TEST_CASE("connections: an address of the bootstrap list and a broker that is not needed are not missing") {
  const Connections before = connections();
  const ClientHandle one = client();
  take_statistics(one.get(), of_brokers(broker(-1, "DOWN", 1, 1, 0) + "," + broker(3, "INIT", 0, 0, 0)));
  CHECK(connections().down == before.down);
}

TEST_CASE("connections: statistics that are no JSON, or say nothing of brokers, change nothing") {
  const Connections before = connections();
  const ClientHandle one = client();
  for (const char* text : {"", "{", "[]", "{\"brokers\":", "{\"name\":\"c\"}"}) take_statistics(one.get(), text);
  CHECK(connections().up == before.up);
  CHECK(connections().down == before.down);
}
