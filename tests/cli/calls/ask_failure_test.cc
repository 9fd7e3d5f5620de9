#include "cli/calls/ask_failure.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("ask failure: what gRPC says of TLS and of addresses comes with what to do") {
  const auto hint = [](const std::string& text, const TlsClientFiles& tls = {}) {
    return ask_failure("h:1", tls, retry(text));
  };
  CHECK(hint("connections to all backends failing; last error: UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed") ==
        "h:1: connections to all backends failing; last error: UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed; the "
        "service may want TLS: name the authority of its certificate with --tls-ca. Or another service "
        "listens there: --server must be the address that serve.listen of the service says");
  CHECK_THAT(hint("UNAVAILABLE: Failed parsing HTTP/2"), Catch::Contains("perhaps an admin port: --server must be"));
  CHECK_THAT(hint("Socket closed", {"ca.pem", "", ""}), Catch::Contains("wants a certificate of yours (--tls-cert"));
  CHECK_THAT(hint("Socket closed", {"ca.pem", "c.pem", "c.key"}), Catch::Contains("the authority of --tls-cert"));
  CHECK_THAT(hint("failed to connect: Connection refused"), Catch::Contains("nothing listens there: --server"));
  CHECK_THAT(hint("it could not be made forgotten: the log has not acknowledged it in time; it may be there"),
             Catch::Contains("in time; it may be there; the service cannot write to its brokers: see its log"));
  CHECK_THAT(hint("Deadline Exceeded; the answer before: the log has not acknowledged it in time"),
             Catch::Contains("cannot write to its brokers"));
  CHECK_THAT(hint("Deadline Exceeded"), Catch::Contains("cannot reach its brokers, or is not there; see its /readyz"));
  CHECK(hint("the replica is behind the log") == "h:1: the replica is behind the log");
  CHECK(ask_failure("h:1", {}, bad_record("handshake is no item")) == "h:1: handshake is no item");
}
