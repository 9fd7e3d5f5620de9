#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/child.h"
#include "tests/support/served_over_grpc.h"
#include "tests/support/tcp_client.h"

using namespace bloomring;

namespace {

bool within_a_while(const std::string& what, const std::function<Result<bool>()>& met) {
  const SystemClock clock;
  return wait_until(clock, 60'000, what, met).ok();
}

// Connections that are gone are cleared away first.
bool answers(Served& served) {
  return within_a_while("an answer", [&] { return served.refusal([](v1::FilterRequest&) {}).ok(); });
}

// Asks the service in another process over a connection of its own; any answer counts.
bool answers(const std::string& address) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub = v1::BloomringService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), own));
  return within_a_while("an answer", [&] {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(5, GPR_TIMESPAN)));
    v1::FilterRequest request;
    request.set_user("u1");
    v1::FilterResponse response;
    return stub->Filter(&context, request, &response).ok();
  });
}

bool any_dropped(const std::vector<TcpClient>& clients) {
  return std::ranges::any_of(clients, [](const TcpClient& client) { return client.dropped(); });
}

}  // namespace

TEST_CASE("grpc server: thousands of connections opened and dropped leave it answering") {
  Served served;
  for (int i = 0; i < 10'000; ++i) const TcpClient dropped(served.server->address());
  CHECK(answers(served));
}

TEST_CASE("grpc server: connections beyond its memory are dropped, and when the others are gone it answers") {
  Served served({.memory_bytes_max = 4 << 20});
  {
    std::vector<TcpClient> held;
    for (int i = 0; i < 800; ++i) held.emplace_back(served.server->address()).greet();
    CHECK(within_a_while("a connection to be dropped", [&] { return any_dropped(held); }));
  }
  CHECK(answers(served));
}

TEST_CASE("grpc server: a burst of connections beyond the files it may have open leaves it answering") {
  testing::Child server("few_files_server", {"128"});
  const std::string address = server.line();
  {
    std::vector<TcpClient> burst;
    for (int i = 0; i < 400; ++i) burst.emplace_back(address);
    CHECK(within_a_while("a connection to be dropped", [&] { return any_dropped(burst); }));
  }
  CHECK(answers(address));
}
