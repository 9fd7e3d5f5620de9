// Calls that find no room wait in turns that are fair between callers.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr int kPlaces = 4;

void wait_for(const std::string& what, const std::function<bool()>& met) {
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, what, [&]() -> Result<bool> { return met(); }).ok());
}

// A client on a connection of its own from this address of the machine.
std::unique_ptr<v1::BloomringService::Stub> client_at(const char* address, const std::string& server) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in own{}, port{};
  own.sin_family = port.sin_family = AF_INET;
  REQUIRE(::inet_pton(AF_INET, address, &own.sin_addr) == 1);
  port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  port.sin_port = htons(static_cast<uint16_t>(std::stoi(server.substr(server.rfind(':') + 1))));
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&port), sizeof port) == 0);
  REQUIRE(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
  return v1::BloomringService::NewStub(grpc::CreateInsecureChannelFromFd(address, fd));
}

// A service with few places, and a store that stands still, so that each call keeps its place.
struct Full {
  explicit Full(int64_t wait_ms) : served(config(wait_ms)) {
    served.world.store.stall_reads(true);
    greedy = client_at("127.0.0.1", served.server->address());
    modest = client_at("127.0.0.2", served.server->address());
    batch(kPlaces);
    wait_for("the places to be taken", [&] { return counters().in_flight == kPlaces; });
  }
  ~Full() {
    served.world.store.stall_reads(false);
    served.server->shutdown(60'000);
    wait_for("every call to end", [this] { return calls_ended == calls.size(); });
  }
  GrpcServerConfig config(int64_t wait_ms) {
    GrpcServerConfig config{.service = {.limits = {.batch_max = kPlaces}, .in_flight_max = kPlaces,
                                        .admission_wait_ms = wait_ms, .store_wait_ms = 600'000}};
    config.service.observe = [this](Method method, const grpc::Status& status, double) {
      const std::lock_guard lock(mutex);
      ended.emplace_back(std::string(method_name(method)), status.error_code());
    };
    return config;
  }
  const ServingCounters& counters() const { return served.server->counters(); }

  struct Call {
    grpc::ClientContext context;
    v1::FilterBatchRequest request;
    v1::FilterBatchResponse response;
    std::promise<grpc::Status> ended;
  };
  // The greedy caller's call about so many users.
  Call& batch(int users) {
    Call& call = calls.emplace_back();
    for (int i = 0; i < users; ++i) call.request.add_requests()->set_user("u" + std::to_string(i));
    greedy->async()->FilterBatch(&call.context, &call.request, &call.response,
                                 [this, &call](grpc::Status status) {
                                   call.ended.set_value(std::move(status));
                                   ++calls_ended;
                                 });
    return call;
  }
  // The modest caller's call about one user.
  grpc::Status ask(grpc::ClientContext& context) {
    v1::FilterRequest request;
    request.set_user("u1");
    v1::FilterResponse response;
    return modest->Filter(&context, request, &response);
  }

  std::mutex mutex;
  std::vector<std::pair<std::string, grpc::StatusCode>> ended;  // In the order in which the service ended them.
  Served served;
  std::unique_ptr<v1::BloomringService::Stub> greedy, modest;
  std::list<Call> calls;
  std::atomic<size_t> calls_ended{0};
};

}  // namespace

TEST_CASE("waiting calls: a greedy caller's large calls do not keep another caller's small one from its turn") {
  Full full(60'000);
  constexpr int kGreedy = 20;
  for (int i = 0; i < kGreedy; ++i) full.batch(kPlaces);
  wait_for("the greedy caller's calls to wait", [&] { return full.counters().waiting == kGreedy; });
  auto modest = std::async([&] {
    grpc::ClientContext context;
    return full.ask(context);
  });
  wait_for("the modest caller's call to wait", [&] { return full.counters().waiting == kGreedy + 1; });
  full.served.world.store.stall_reads(false);
  CHECK(modest.get().ok());
  for (auto& call : full.calls) CHECK(call.ended.get_future().get().ok());
  const std::lock_guard lock(full.mutex);
  const auto first = std::ranges::find(full.ended, "Filter", [](const auto& one) { return one.first; });
  CHECK(first - full.ended.begin() <= 2);  // Behind the call that had the places, and one that had its turn.
  CHECK(full.counters().waited_admitted == kGreedy + 1);
  CHECK(full.counters().waited_us > 0);
  CHECK(full.counters().refused_overload == 0);
  CHECK(full.counters().in_flight == 0);
}

TEST_CASE("waiting calls: a call without room in time is refused, and told when to come again") {
  const int64_t wait_ms = GENERATE(0, 150);
  Full full(wait_ms);
  grpc::ClientContext context;
  const grpc::Status refused = full.ask(context);
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  const std::string retry_ms = wait_ms == 0 ? "100" : "150";
  CHECK(refused.error_message() == "4 of at most 4 users are being answered already; ask again after " + retry_ms +
                                       " ms, about fewer users or items, or ask another replica");
  const auto told = context.GetServerTrailingMetadata().find("grpc-retry-pushback-ms");
  REQUIRE(told != context.GetServerTrailingMetadata().end());
  CHECK(std::string(told->second.data(), told->second.size()) == retry_ms);
  CHECK(full.counters().waited_refused == (wait_ms == 0 ? 0 : 1));
  CHECK(full.counters().refused_overload == 1);
}

TEST_CASE("waiting calls: a call waits no longer than its deadline allows") {
  Full full(600'000);
  grpc::ClientContext context;
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(200, GPR_TIMESPAN)));
  const grpc::Status refused = full.ask(context);
  // The second where the machine stands still between nine tenths of the deadline and its end.
  CHECK((refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ||
         refused.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED));
  wait_for("the call to have left", [&] { return full.counters().waiting == 0; });
}

TEST_CASE("waiting calls: a call whose client has gone leaves the queue at once") {
  Full full(600'000);
  auto& gone = full.batch(1);
  wait_for("the call to wait", [&] { return full.counters().waiting == 1; });
  gone.context.TryCancel();
  CHECK(gone.ended.get_future().get().error_code() == grpc::StatusCode::CANCELLED);
  wait_for("the call to have left", [&] { return full.counters().waiting == 0; });
  CHECK(full.counters().waited_ended == 1);
  CHECK(full.counters().in_flight == kPlaces);
}

TEST_CASE("waiting calls: when the server ends they are answered within its grace") {
  Full full(600'000);
  auto& waits = full.batch(1);
  wait_for("the call to wait", [&] { return full.counters().waiting == 1; });
  auto ended = std::async([&] { full.served.server->shutdown(60'000); });
  wait_for("a new call to be refused", [&] {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(1'000, GPR_TIMESPAN)));
    return full.ask(context).error_code() == grpc::StatusCode::UNAVAILABLE;
  });
  full.served.world.store.stall_reads(false);
  CHECK(waits.ended.get_future().get().ok());
  ended.get();
}

TEST_CASE("waiting calls: when the server ends without grace none of them hangs") {
  Full full(600'000);
  for (int i = 0; i < 10; ++i) full.batch(kPlaces);
  wait_for("the calls to wait", [&] { return full.counters().waiting == 10; });
  auto ended = std::async([&] { full.served.server->shutdown(0); });
  wait_for("the calls to have left", [&] { return full.counters().waiting == 0; });
  CHECK(full.counters().waited_ended == 10);
  full.served.world.store.stall_reads(false);
  ended.get();
  for (auto& call : full.calls) {
    const grpc::StatusCode code = call.ended.get_future().get().error_code();
    CHECK((code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::OK));
  }
}
