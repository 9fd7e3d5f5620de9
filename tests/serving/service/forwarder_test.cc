// Calls about a partition that another replica holds: two replicas, each over a world of its own.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "client/client.h"
#include "serving/query/peer_addresses.h"
#include "serving/query/replica_placement.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// `asked` holds nothing and knows that `holder` does.
struct TwoReplicas {
  explicit TwoReplicas(const GrpcServerConfig& config = {}) : asked(config), holder(config) {
    asked.partitions.held = nullptr;
    asked.partitions.elsewhere = {holder.server->address()};
    holder.world.play("u1", "v1");
  }
  Served asked;
  Served holder;
};

v1::FilterRequest question(v1::ForwardPolicy elsewhere = v1::FORWARD_POLICY_UNSPECIFIED) {
  v1::FilterRequest request;
  request.set_user("u1");
  request.mutable_candidates()->add_text("v1");
  request.mutable_candidates()->add_text("v2");
  request.set_forward_policy(elsewhere);
  return request;
}

// Nobody listens there.
constexpr char kGone[] = "127.0.0.1:1";

}  // namespace

TEST_CASE("forwarding: a call about a partition that another replica holds is answered by that one") {
  TwoReplicas replicas;
  v1::FilterResponse response;
  REQUIRE(replicas.asked.filter(question(), &response).ok());
  CHECK(response.seen() == "\x01");
  CHECK(response.complete());
  CHECK(replicas.asked.server->counters().forwarded == 1);
  CHECK(testing::candidates(replicas.asked.server->counters()) == 0);
  CHECK(testing::candidates(replicas.holder.server->counters()) == 2);
  CHECK(replicas.asked.record_served({"v2"}).ok());
  CHECK(replicas.holder.world.seen("u1", "v2") == "served");
  v1::ForgetRequest forget;
  forget.set_user("u1");
  forget.set_item("v1");
  grpc::ClientContext context;
  v1::ForgetResponse forgotten;
  CHECK(replicas.asked.stub->Forget(&context, forget, &forgotten).ok());
  CHECK(replicas.holder.world.seen("u1", "v1") == "unseen");
  const auto client = Client::connect({.server = replicas.asked.server->address(), .deadline_ms = 30'000});
  CHECK(client->snapshot("u1", "").value() == client->snapshot("u1", "").value());
}

TEST_CASE("forwarding: the requests of a batch are passed on each by itself") {
  TwoReplicas replicas;
  v1::FilterBatchRequest batch;
  *batch.add_requests() = question();
  *batch.add_requests() = question(v1::FORWARD_POLICY_REDIRECT);
  batch.add_requests()->set_user("");
  grpc::ClientContext context;
  v1::FilterBatchResponse response;
  REQUIRE(replicas.asked.stub->FilterBatch(&context, batch, &response).ok());
  CHECK(response.outcomes(0).response().seen() == "\x01");
  CHECK(response.outcomes(1).code() == grpc::StatusCode::UNAVAILABLE);
  REQUIRE(response.outcomes(1).holders_size() == 1);
  CHECK(response.outcomes(1).holders(0) == replicas.holder.server->address());
  CHECK(response.outcomes(2).message() == "user: an id is empty");
  CHECK(replicas.asked.server->counters().forwarded == 1);
}

TEST_CASE("forwarding: who asks to be told is told who holds the partition") {
  TwoReplicas replicas;
  replicas.asked.partitions.elsewhere = {"serve-1:7700", "serve-2:7700"};
  grpc::ClientContext context;
  v1::FilterResponse response;
  const grpc::Status status = replicas.asked.stub->Filter(&context, question(v1::FORWARD_POLICY_REDIRECT), &response);
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message() == "partition 0 is not held here; held by serve-1:7700,serve-2:7700");
  CHECK(status.error_details().empty());
  const auto [begin, end] = context.GetServerTrailingMetadata().equal_range("bloomring-holder");
  std::vector<std::string> holders;
  for (auto holder = begin; holder != end; ++holder) holders.emplace_back(holder->second.data(), holder->second.size());
  CHECK(holders == std::vector<std::string>{"serve-1:7700", "serve-2:7700"});
}

TEST_CASE("forwarding: replicas that each believe the other to hold a partition pass a call on once, not for ever") {
  TwoReplicas replicas;
  replicas.holder.partitions.held = nullptr;
  replicas.holder.partitions.elsewhere = {replicas.asked.server->address()};
  v1::FilterResponse response;
  const grpc::Status status = replicas.asked.filter(question(), &response);
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message() ==
        "partition 0 is not held here; " + replicas.holder.server->address() + ": partition 0 is not held here");
  CHECK(replicas.asked.server->counters().forward_failed == 1);
  CHECK(replicas.asked.server->counters().requests == 1);
  CHECK(replicas.holder.server->counters().requests == 1);
}

TEST_CASE("forwarding: a holder that is gone is followed by the next one") {
  TwoReplicas replicas;
  replicas.asked.partitions.elsewhere = {kGone, replicas.holder.server->address()};
  for (int call = 0; call < 4; ++call) {  // Each begins with another holder.
    v1::FilterResponse response;
    CHECK(replicas.asked.filter(question(), &response).ok());
    CHECK(response.seen() == "\x01");
  }
  replicas.asked.partitions.elsewhere = {kGone};
  v1::FilterResponse response;
  const grpc::Status status = replicas.asked.filter(question(), &response);
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message().starts_with("partition 0 is not held here; 127.0.0.1:1: "));
}

TEST_CASE("forwarding: a partition that is catching up here is answered by another holder") {
  TwoReplicas replicas;
  replicas.asked.partitions.held =
      std::make_shared<ReplicaPartition>(kOnly, RecentPlaysConfig{}, utc_months(), Offset(0));
  v1::FilterResponse response;
  REQUIRE(replicas.asked.filter(question(), &response).ok());
  CHECK(response.seen() == "\x01");
}

TEST_CASE("forwarding: the caller's deadline goes with the call") {
  TwoReplicas replicas({.service = {.store_wait_ms = 600'000}});
  replicas.holder.world.store.stall_reads(true);
  v1::FilterResponse response;
  // In time, because the holder knows how long it may wait for its store.
  const grpc::Status status = ask_in_time([&](grpc::ClientContext& context) {
    return replicas.asked.stub->Filter(&context, question(), &response);
  });
  REQUIRE(status.error_message() == "");
  CHECK(response.seen() == "\x01");
  CHECK_FALSE(response.complete());
  replicas.holder.world.store.stall_reads(false);
}

TEST_CASE("forwarding: bad input is refused where it arrives, and more than the bound is refused") {
  TwoReplicas replicas({.service = {.forward = {.in_flight_max = 0}}});
  v1::FilterResponse response;
  v1::FilterRequest wrong;
  CHECK(replicas.asked.filter(wrong, &response).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status status = replicas.asked.filter(question(), &response);
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(status.error_message() ==
        "0 calls to other replicas are in flight already, 0 of them of this caller, of at most 0");
  CHECK(replicas.holder.server->counters().requests == 0);
}

TEST_CASE("forwarding: a caller's batch takes half of the places and leaves the others free, until it has ended") {
  TwoReplicas replicas({.service = {.store_wait_ms = 60'000, .forward = {.in_flight_max = 8}}});
  v1::FilterBatchRequest batch;
  for (int i = 0; i < 8; ++i) *batch.add_requests() = question();
  const auto refused_of = [&] {
    grpc::ClientContext context;
    v1::FilterBatchResponse response;
    REQUIRE(replicas.asked.stub->FilterBatch(&context, batch, &response).ok());
    return std::ranges::count_if(response.outcomes(), [](const v1::FilterOutcome& outcome) {
      return outcome.code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    });
  };
  replicas.holder.world.store.stall_reads(true);
  std::thread release([&] {
    // Each request was refused here, or waits there.
    while (replicas.asked.server->counters().requests + replicas.holder.world.store.reads() < 8)
      std::this_thread::yield();
    replicas.holder.world.store.stall_reads(false);
  });
  CHECK(refused_of() == 4);
  release.join();
  batch.mutable_requests()->DeleteSubrange(4, 4);
  CHECK(refused_of() == 0);
}

TEST_CASE("placement: the holders of a partition are those replicas that hold it, as many as the factor") {
  for (uint32_t count = 1; count <= 5; ++count) {
    for (uint32_t factor = 1; factor <= count; ++factor) {
      for (int32_t partition = 0; partition < 20; ++partition) {
        std::vector<uint32_t> holders = ReplicaPlacement{0, count, factor}.holders(PartitionId(partition));
        std::vector<uint32_t> expected;
        for (uint32_t index = 0; index < count; ++index) {
          if (ReplicaPlacement{index, count, factor}.holds(PartitionId(partition))) expected.push_back(index);
        }
        std::ranges::sort(holders);
        CHECK(holders == expected);
        CHECK(holders.size() == factor);
      }
    }
  }
}

TEST_CASE("placement: addresses of replicas come from a list or from a pattern") {
  CHECK(peer_address({"a:1", "b:2"}, 1) == "b:2");
  CHECK(peer_address({"a:1", "b:2"}, 2).empty());
  CHECK(peer_address({}, 0).empty());
  CHECK(peer_address({"serve-{index}.serve-{index}:7700"}, 12) == "serve-12.serve-12:7700");
}
