#include "serving/admission/caller.h"

#include <catch2/catch.hpp>

#include "tests/support/served_over_grpc.h"

namespace bloomring {

TEST_CASE("caller: all connections of a host are one caller, other hosts are others") {
  CHECK(network_of_peer("ipv4:10.0.0.7:50312") == "ipv4:10.0.0.7");
  CHECK(network_of_peer("") == "");
  CHECK(network_of_peer("somewhere") == "somewhere");
  CHECK(network_of_peer("ipv6:%5Bnowhere%5D:1") == "ipv6:%5Bnowhere%5D");
  CHECK(caller_of_peer("ipv4:10.0.0.7:50312") == caller_of_peer("ipv4:10.0.0.7:1"));
  CHECK(caller_of_peer("ipv4:10.0.0.7:50312") != caller_of_peer("ipv4:10.0.0.8:50312"));
}

TEST_CASE("caller: all addresses of a network of 64 bits are one caller") {
  const auto caller = [](const std::string& address) { return caller_of_peer("ipv6:%5B" + address + "%5D:50312"); };
  CHECK(caller("2001:db8:0:1::7") == caller("2001:db8:0:1:ffff::8"));
  CHECK(caller("2001:db8:0:1::7") != caller("2001:db8:0:2::7"));
  CHECK(caller("fe80::1%25eth0") == caller("fe80::2%25eth0"));
  CHECK(caller("::ffff:10.0.0.7") != caller("::ffff:10.0.0.8"));  // IPv4 in IPv6's notation is whole.
}

namespace {

// Notes the callers of the reads that it passes on.
struct CallersOfReads final : FilterReader {
  explicit CallersOfReads(FilterReader& to) : reader(to) {}
  void begin_read(std::shared_ptr<FilterRead> read) override {
    {
      const std::lock_guard lock(mutex);
      callers.push_back(read->caller());
    }
    reader.begin_read(std::move(read));
  }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override {
    return reader.read_watermark(partition);
  }
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) override {
    return reader.heard_watermark(partition);
  }
  Result<std::optional<SumKey>> slot_end_key() override { return reader.slot_end_key(); }
  std::optional<int64_t> merged_ms() const override { return reader.merged_ms(); }
  Status refresh() override { return reader.refresh(); }

  FilterReader& reader;
  std::mutex mutex;
  std::vector<uint64_t> callers;
};

}  // namespace

TEST_CASE("caller: each read of the filter store says for which host it is") {
  Served served;
  CallersOfReads store(served.world.store);
  CandidateFilter core(store, utc_months(), served.world.clock, {});
  const auto server = GrpcServer::start(with_patience({}), served.partitions, core, nullptr).value();
  server->set_serving(true);
  for (const char* user : {"u1", "u2"}) {
    const auto channel = grpc::CreateCustomChannel(server->address(), grpc::InsecureChannelCredentials(), [] {
      grpc::ChannelArguments own_connection;
      own_connection.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      return own_connection;
    }());
    grpc::ClientContext context;
    v1::FilterRequest request;
    request.set_user(user);
    v1::FilterResponse response;
    REQUIRE(v1::BloomringService::NewStub(channel)->Filter(&context, request, &response).ok());
    CHECK(context.peer().starts_with("ipv4:127.0.0.1:"));
  }
  CHECK(store.callers == std::vector<uint64_t>(2, caller_of_peer("ipv4:127.0.0.1:1")));
}

}  // namespace bloomring
