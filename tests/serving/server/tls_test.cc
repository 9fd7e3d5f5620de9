// TLS and mutual TLS of the gRPC port, with certificates made for each test.
#include <catch2/catch.hpp>

#include "client/client.h"
#include "tests/support/certificates.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// Whether the service answers a client with these files.
bool answers(const Served& served, const TlsClientFiles& files) {
  const auto client =
      Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false, .tls = files});
  FilterCall call;
  call.user = "u1";
  call.items = {"v1"};
  const auto reply = client->filter(call);
  if (!reply.ok()) CHECK(reply.code() == Code::kRetry);
  return reply.ok();
}

GrpcServerConfig with(const TlsServerFiles& files) {
  GrpcServerConfig config;
  config.tls = files;
  return config;
}

}  // namespace

TEST_CASE("tls: who trusts the server's authority is answered, who trusts another or does not encrypt is not") {
  Certificates made;
  made.authority("ca");
  made.authority("other");
  made.signed_by("ca", "server");
  Served served(with(made.server("server")));
  CHECK(answers(served, made.client("ca")));
  CHECK_FALSE(answers(served, made.client("other")));
  CHECK_FALSE(answers(served, {}));
}

TEST_CASE("tls: with a CA for clients, only those that it vouches for are answered") {
  Certificates made;
  made.authority("ca");
  made.authority("clients");
  made.authority("strangers");
  made.signed_by("ca", "server");
  made.signed_by("clients", "friend");
  made.signed_by("strangers", "stranger");
  Served served(with(made.server("server", "clients")));
  CHECK(answers(served, made.client("ca", "friend")));
  CHECK_FALSE(answers(served, made.client("ca", "stranger")));
  CHECK_FALSE(answers(served, made.client("ca")));
  CHECK(answers(served, made.client("ca", "friend")));
}

TEST_CASE("tls: a client that asks for TLS does not talk to a server without") {
  Certificates made;
  made.authority("ca");
  Served served;
  CHECK_FALSE(answers(served, made.client("ca")));
}
