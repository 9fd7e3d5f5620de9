#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <list>
#include <string>

#include "pipeline/runtime/wait.h"
#include "tests/serving/server/idle_stream.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

const std::string kWatch = "/grpc.health.v1.Health/Watch";

int64_t threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "Threads:") continue;
    int64_t count = 0;
    status >> count;
    return count;
  }
  return 0;
}

bool within_a_while(const std::string& what, const std::function<Result<bool>()>& met) {
  const SystemClock clock;
  return wait_until(clock, 60'000, what, met).ok();
}

}  // namespace

TEST_CASE("grpc server: 1,500 streams that each want a thread leave its threads bounded, and others are answered") {
  constexpr int kThreadsMax = 64, kSome = kThreadsMax / 2;
  Served served({.reflection = true, .threads_max = kThreadsMax});
  REQUIRE(served.refusal([](v1::FilterRequest&) {}).ok());
  const int64_t before = threads();
  grpc::GenericStub stub(connection_of_its_own(served.server->address()));
  std::list<IdleStream> streams;
  for (int i = 0; i < 1'500; ++i) streams.emplace_back(stub, kReflection, kListServices);
  CHECK(within_a_while("some of them to be answered",
                       [&] { return std::ranges::count_if(streams, &IdleStream::answered) >= kSome; }));
  for (int i = 0; i < 1'000; ++i) REQUIRE(served.refusal([](v1::FilterRequest&) {}).ok());
  CHECK(threads() <= before + kThreadsMax + 16);
}

TEST_CASE("grpc server: a stream without an end is ended with its connection, after the grace") {
  Served served({.connection_age_max_ms = 200, .connection_grace_ms = 200});
  grpc::GenericStub stub(connection_of_its_own(served.server->address()));
  IdleStream watch(stub, kWatch, "");
  CHECK(within_a_while("the stream to be answered", [&] { return watch.answered(); }));
  CHECK(within_a_while("the stream to be ended", [&] { return watch.ended(); }));
  CHECK(watch.code() == grpc::StatusCode::UNAVAILABLE);
}
