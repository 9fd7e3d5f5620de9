// TLS and mutual TLS of the gRPC port, with certificates made for each test.
#include <catch2/catch.hpp>
#include <fstream>

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

TEST_CASE("tls: files that are missing, are no PEM or lack their companion are named before anything starts") {
  Certificates made;
  made.authority("ca");
  made.signed_by("ca", "server");
  std::ofstream(made.file("text.pem")) << "no certificate";
  const auto refusal = [](const TlsServerFiles& files) { return check(files).message(); };
  const std::string certificate = made.file("server.pem"), key = made.file("server.key");
  CHECK(check(made.server("server", "ca")).ok());
  CHECK(check(made.client("ca", "server")).ok());
  CHECK(check(TlsServerFiles{}).ok());
  CHECK(refusal({certificate, "", ""}) == "a certificate and its key are needed together, or neither");
  CHECK(refusal({"", key, ""}) == "a certificate and its key are needed together, or neither");
  CHECK(refusal({made.file("none.pem"), key, ""}) ==
        made.file("none.pem") + " cannot be read: No such file or directory");
  CHECK(refusal({certificate, made.file("text.pem"), ""}) ==
        made.file("text.pem") + " is no PEM file with a PRIVATE KEY");
  CHECK(refusal({"", "", made.file("ca.pem")}) == "a CA for clients needs the server's certificate and key beside it");
  CHECK(check(TlsClientFiles{"", certificate, key}).message() ==
        "a client's certificate needs the server's CA beside it");
  CHECK(check(TlsClientFiles{made.file("text.pem"), "", ""}).message() ==
        made.file("text.pem") + " is no PEM file with a CERTIFICATE");
  OnePartition partitions;
  ServingWorld world;
  CHECK(GrpcServer::start(with({certificate, made.file("none.key"), ""}), partitions, world.core).code() ==
        Code::kInvalid);
}
