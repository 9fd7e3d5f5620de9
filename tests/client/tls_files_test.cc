#include "client/tls_files.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/certificates.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

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
  CHECK(refusal({"", "", made.file("ca.pem")}) == "a CA for clients also needs the server's certificate and key");
  CHECK(check(TlsClientFiles{"", certificate, key}).message() ==
        "a client's certificate also needs the server's CA");
  CHECK(check(TlsClientFiles{made.file("text.pem"), "", ""}).message() ==
        made.file("text.pem") + " is no PEM file with a CERTIFICATE");
  GrpcServerConfig config;
  config.tls = {certificate, made.file("none.key"), ""};
  OnePartition partitions;
  ServingWorld world;
  CHECK(GrpcServer::start(config, partitions, world.core).code() == Code::kInvalid);
}
