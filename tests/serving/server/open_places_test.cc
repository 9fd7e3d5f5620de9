#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/serving/service/raw_call.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr size_t kPlaces = 4;
const GrpcServerConfig kFew{.calls_max = kPlaces};
constexpr int kCancelled = 1, kUnimplemented = 12;

void wait_for(const std::string& what, const std::function<bool()>& met) {
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, what, [&]() -> Result<bool> { return met(); }).ok());
}

std::string question() {
  v1::FilterRequest request;
  request.set_user("u1");
  return request.SerializeAsString();
}

}  // namespace

TEST_CASE("open places: a call whose message has not come gives way to one of another client, the oldest first") {
  Served served(kFew);
  const CallPlaceCounters& places = served.server->places();
  std::vector<std::unique_ptr<RawCall>> silent;
  for (size_t i = 1; i <= kPlaces; ++i) {
    silent.push_back(std::make_unique<RawCall>(served.server->address()));
    silent.back()->send_head("Filter", "100S");
    wait_for("it to be open", [&] { return places.open == static_cast<int64_t>(i); });
  }
  CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
  CHECK(places.silent_displaced == 1);
  CHECK(silent.front()->end().status == kCancelled);
  silent.back()->send_message(question());
  CHECK(silent.back()->end().status == 0);
  CHECK(places.refused == 0);
}

TEST_CASE("open places: calls whose clients have read the answers have none any more, whatever the answers were") {
  Served served(kFew);
  const CallPlaceCounters& places = served.server->places();
  for (size_t i = 0; i < 5 * kPlaces; ++i) {
    CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
    CHECK_FALSE(served.refusal([](v1::FilterRequest& request) { request.clear_user(); }).ok());
    RawCall unknown(served.server->address());
    unknown.send_head("NoSuchCall", "100S");
    CHECK(unknown.end().status == kUnimplemented);
  }
  wait_for("all to be gone", [&] { return places.open == 0; });
  CHECK(places.silent_displaced + places.answered_displaced + places.working_displaced + places.refused == 0);
}

TEST_CASE("open places: a connection that ends takes its calls with it") {
  Served served(kFew);
  const CallPlaceCounters& places = served.server->places();
  {
    RawCall silent(served.server->address());
    silent.send_head("Filter", "100S");
    wait_for("it to be open", [&] { return places.open == 1; });
  }
  wait_for("it to be gone", [&] { return places.open == 0; });
}
