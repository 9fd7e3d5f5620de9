#include "serving/service/waiting_read.h"

#include <catch2/catch.hpp>

#include "state/store/redis/redis_filter_store.h"
#include "tests/support/redis_servers.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr int64_t kLongMs = 600'000;  // Far beyond every deadline of the test.

// The service over a real Redis server, whose reads nothing but a deadline bounds.
struct ServedFromRedis {
  ServedFromRedis() {
    REQUIRE(store.refresh().to_string() == "ok");
    partitions.held = world.partition;
    partitions.held->set_scenes(&partitions.known);
    server = GrpcServer::start({.service = {.store_wait_ms = kLongMs}}, partitions, core, nullptr).value();
    stub = v1::BloomringService::NewStub(
        grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  }
  ~ServedFromRedis() { redis.unfreeze(); }  // The service waits for its reads.

  RedisStoreConfig store_config() const {
    RedisStoreConfig config;
    config.addresses = {redis.address()};
    config.timeout_ms = kLongMs;
    return config;
  }

  testing::RedisServer redis;
  ServingWorld world;
  const Calendar calendar = utc_months();
  RedisFilterStore store{store_config(), calendar, world.clock, true};
  CandidateFilter core{store, utc_months(), world.clock, {}};
  OnePartition partitions;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<v1::BloomringService::Stub> stub;
};

}  // namespace

TEST_CASE("waiting read: a call's deadline ends its wait for a silent Redis server, which may be silent for longer") {
  ServedFromRedis served;
  served.world.play("u1", "v1");
  v1::FilterRequest request;
  request.set_user("u1");
  request.mutable_candidates()->add_text("v1");
  request.mutable_candidates()->add_text("v2");
  v1::FilterResponse response;
  grpc::ClientContext sound;
  REQUIRE(served.stub->Filter(&sound, request, &response).error_message() == "");
  REQUIRE(response.gaps_size() == 0);

  served.redis.freeze();
  request.set_user("u2");  // No cache has it.
  served.world.play("u2", "v1");
  const grpc::Status status =
      ask_in_time([&](grpc::ClientContext& context) { return served.stub->Filter(&context, request, &response); });
  REQUIRE(status.error_message() == "");
  CHECK(response.seen() == "\x01");
  REQUIRE(response.gaps_size() == 1);
  CHECK(response.gaps(0).reason() == "filter store: no answer in time");
  CHECK(served.server->counters().in_flight == 0);
}
