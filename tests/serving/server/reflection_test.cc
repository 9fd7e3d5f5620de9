#include "serving/server/reflection.h"

#include <catch2/catch.hpp>

#include "pipeline/runtime/wait.h"
#include "tests/serving/server/idle_stream.h"
#include "tests/support/child.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("reflection: a server has none unless it is asked for") {
  testing::Child server("few_files_server", {"1024"});
  grpc::GenericStub stub(connection_of_its_own(server.line()));
  IdleStream asked(stub, kReflection, kListServices);
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, "an answer", [&]() -> Result<bool> { return asked.ended(); }).ok());
  CHECK(asked.code() == grpc::StatusCode::UNIMPLEMENTED);
}

TEST_CASE("reflection: where it is asked for it answers, also when it was loaded before") {
  REQUIRE(load_reflection().ok());
  REQUIRE(load_reflection().ok());
  const Served served({.reflection = true});
  grpc::GenericStub stub(connection_of_its_own(served.server->address()));
  IdleStream asked(stub, kReflection, kListServices);
  const SystemClock clock;
  CHECK(wait_until(clock, 60'000, "an answer", [&]() -> Result<bool> { return asked.answered(); }).ok());
}
