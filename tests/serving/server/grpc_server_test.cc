#include "serving/server/grpc_server.h"

#include <grpcpp/generic/generic_stub.h>

#include <catch2/catch.hpp>
#include <future>

#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("grpc server: health says whether it serves, for the server and for the service") {
  Served served;
  const auto health = [&](const std::string& service) {
    grpc::ClientContext context;
    // grpc.health.v1.HealthCheckRequest { string service = 1; }, answered by { ServingStatus status = 1; }.
    const std::string request =
        service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    grpc::GenericStub stub(served.channel);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer in(&slice, 1);
    grpc::ByteBuffer out;
    std::promise<grpc::Status> ended;
    stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &in, &out,
                   [&](grpc::Status status) { ended.set_value(status); });
    REQUIRE(ended.get_future().get().ok());
    std::vector<grpc::Slice> slices;
    REQUIRE(out.Dump(&slices).ok());
    return std::string(reinterpret_cast<const char*>(slices[0].begin()), slices[0].size());
  };
  CHECK(health("") == "\x08\x01");
  CHECK(health("bloomring.v1.BloomringService") == "\x08\x01");
  served.server->set_serving(false);
  CHECK(health("") == "\x08\x02");
}

TEST_CASE("grpc server: a port that is taken is refused with a sentence") {
  Served served;
  const auto second = GrpcServer::start({.listen = served.server->address()}, served.partitions, served.world.core);
  REQUIRE(second.code() == Code::kInvalid);
  CHECK(second.status().message() ==
        "gRPC cannot listen on " + served.server->address() + ": is the port taken by another process?");
}
