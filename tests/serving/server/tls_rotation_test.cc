#include <catch2/catch.hpp>
#include <filesystem>

#include "client/client.h"
#include "pipeline/runtime/wait.h"
#include "tests/support/certificates.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("tls: a replaced certificate is taken up without a restart") {
  Certificates made;
  made.authority("old");
  made.authority("new");
  made.signed_by("old", "server");
  made.signed_by("new", "next");
  GrpcServerConfig config;
  config.tls = made.server("server");
  Served served(config);
  const auto answers = [&](const std::string& ca) {
    const auto client = Client::connect(
        {.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false, .tls = made.client(ca)});
    FilterCall call;
    call.user = "u1";
    call.items = {"v1"};
    return client->filter(call).ok();
  };
  CHECK(answers("old"));
  CHECK_FALSE(answers("new"));
  std::filesystem::rename(made.file("next.key"), made.file("server.key"));
  std::filesystem::rename(made.file("next.pem"), made.file("server.pem"));
  const SystemClock clock;
  const Status taken_up =
      wait_until(clock, 60'000, "the new certificate", [&]() -> Result<bool> { return answers("new"); });
  CHECK(taken_up.ok());
}
