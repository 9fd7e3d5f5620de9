#include "serving/server/port_probe.h"

#include "base/log.h"
#include "serving/server/acceptor.h"
#include "tests/support/certificates.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr int64_t kPatienceMs = 60'000;

}  // namespace

TEST_CASE("port probe: a port that answers is heard, and gRPC has no error to log about it") {
  Certificates made;
  made.authority("ca");
  made.signed_by("ca", "server");
  const uint64_t warnings = log_lines(LogLevel::kWarning);
  {
    const Served plain;
    CHECK(probe_port(plain.server->address(), false, kPatienceMs).ok());
    GrpcServerConfig config;
    config.tls = made.server("server");
    const Served encrypted(config);
    CHECK(probe_port(encrypted.server->address(), true, kPatienceMs).ok());
    config.tls = made.server("server", "ca");
    const Served of_known_clients(config);
    CHECK(probe_port(of_known_clients.server->address(), true, kPatienceMs).ok());
  }
  CHECK(log_lines(LogLevel::kWarning) == warnings);
}

TEST_CASE("port probe: a server on every address is asked over loopback") {
  const Served served({.listen = "0.0.0.0:0"});
  CHECK(probe_port(served.server->address(), false, kPatienceMs).ok());
}

TEST_CASE("port probe: a port whose acceptor stands still is deaf, and so is one that is closed") {
  const auto acceptor = Acceptor::open("127.0.0.1:0", 1'000).value();
  const std::string address = "127.0.0.1:" + std::to_string(acceptor->port());
  const Status silent = probe_port(address, false, 100);
  CHECK(silent.code() == Code::kRetry);
  CHECK(silent.message() == "the gRPC port " + address + " takes connections but answers none");
  CHECK(probe_port(address, true, 100).code() == Code::kRetry);
  acceptor->stop();
  CHECK(probe_port(address, false, kPatienceMs).message() ==
        "the gRPC port " + address + " takes no connection: Connection refused");
}

TEST_CASE("port probe: a port that is at its bound and closes the connection is not deaf") {
  const auto acceptor = Acceptor::open("127.0.0.1:0", 0).value();
  acceptor->start([](int, int) {});
  CHECK(probe_port("127.0.0.1:" + std::to_string(acceptor->port()), false, kPatienceMs).ok());
}
