#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

void wait_for(const std::string& what, const std::function<bool()>& met) {
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, what, [&]() -> Result<bool> { return met(); }).ok());
}

// A client with a connection of its own that asks without a pause, also when it is refused.
class Asker {
 public:
  explicit Asker(const std::string& address)
      : channel_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), own_connection())),
        stub_(v1::BloomringService::NewStub(channel_)) {
    request_.set_user("u1");
    for (int i = 0; i < 15'000; ++i) request_.mutable_candidates()->add_integers(1'000'000'000 + i);
  }
  // The codes of its calls.
  std::set<grpc::StatusCode> ask_until(const std::atomic<bool>& told) {
    std::set<grpc::StatusCode> codes;
    while (!told) {
      grpc::ClientContext context;
      v1::FilterResponse response;
      const grpc::Status status = stub_->Filter(&context, request_, &response);
      codes.insert(status.error_code());
      if (status.ok()) ++answers_;
    }
    return codes;
  }
  int answers() const { return answers_; }

 private:
  static grpc::ChannelArguments own_connection() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return arguments;
  }
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::BloomringService::Stub> stub_;
  v1::FilterRequest request_;
  std::atomic<int> answers_{0};
};

struct AtTheEnd {
  std::atomic<bool>& told;
  ~AtTheEnd() { told = true; }
};

}  // namespace

TEST_CASE("grpc server: a call in flight when the server ends gets its answer, a new one UNAVAILABLE") {
  Served served;
  served.log.stalled = true;
  auto recorded = std::async([&] { return served.record_served({"v1"}); });
  wait_for("the call to be in flight", [&] {
    const std::lock_guard lock(served.log.mutex);
    return !served.log.waiting.empty();
  });
  auto ended = std::async([&] { served.server->shutdown(60'000); });
  grpc::Status refused;
  wait_for("a new call to be refused", [&] {
    refused = served.refusal([](v1::FilterRequest&) {});
    return !refused.ok();
  });
  CHECK(refused.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(refused.error_message() == "this replica is ending; ask another one");
  served.log.stalled = false;
  served.log.acknowledge();
  CHECK(recorded.get().ok());
  ended.get();
}

TEST_CASE("grpc server: a call that takes longer than the grace ends as UNAVAILABLE") {
  Served served({.service = {.log_wait_ms = 2'000}});
  served.log.stalled = true;
  auto recorded = std::async([&] { return served.record_served({"v1"}); });
  wait_for("the call to be in flight", [&] {
    const std::lock_guard lock(served.log.mutex);
    return !served.log.waiting.empty();
  });
  served.server->shutdown(0);
  CHECK(recorded.get().error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("grpc server: of many calls over many connections none is CANCELLED because the server ends") {
  for (int round = 0; round < 10; ++round) {
    Served served;
    std::array<std::unique_ptr<Asker>, 8> askers;
    std::atomic<bool> over{false};
    std::vector<std::future<std::set<grpc::StatusCode>>> codes;
    const AtTheEnd also_after_a_failure{over};
    for (auto& asker : askers) {
      asker = std::make_unique<Asker>(served.server->address());
      codes.push_back(std::async(std::launch::async, [&] { return asker->ask_until(over); }));
    }
    for (const auto& asker : askers) wait_for("each to be answered", [&] { return asker->answers() > 0; });
    served.server->announce_end();
    const int before = askers[0]->answers();
    wait_for("calls to be answered after the end was announced", [&] { return askers[0]->answers() > before; });
    served.server->shutdown(60'000);
    over = true;
    for (auto& all : codes) {
      for (const grpc::StatusCode code : all.get())
        CHECK((code == grpc::StatusCode::OK || code == grpc::StatusCode::UNAVAILABLE));
    }
  }
}
