#include "pipeline/settings/certificates.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/certificates.h"

using namespace bloomring;

TEST_CASE("certificates: a file's certificates are read with their names and times, in their order") {
  const Certificates made;
  made.authority("ca");
  made.signed_by("ca", "server");
  std::ofstream chain(made.file("chain.pem"));
  for (const char* name : {"server.pem", "ca.pem"}) chain << std::ifstream(made.file(name)).rdbuf();
  chain.close();
  const auto read = read_certificates(made.file("chain.pem"));
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].name == "server");
  CHECK((*read)[1].name == "ca");
  // The command asks for the time once for each of both.
  CHECK((*read)[0].not_after_ms - (*read)[0].not_before_ms >= 2 * 86'400'000);
  CHECK((*read)[0].not_after_ms - (*read)[0].not_before_ms <= 2 * 86'400'000 + 10'000);
}

TEST_CASE("certificates: what is no certificate is refused, with what it is") {
  const Certificates made;
  made.authority("ca");
  std::ofstream(made.file("damaged.pem")) << "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const auto why = [&](const std::string& name) { return read_certificates(made.file(name)).status().message(); };
  CHECK(why("nowhere.pem") == "it cannot be read: No such file or directory");
  CHECK(why("ca.key") == "it holds no certificate");
  CHECK(why("damaged.pem") == "certificate 1 in it is damaged");
}

TEST_CASE("certificates: a key belongs to its certificate or is refused") {
  const Certificates made;
  made.authority("ca");
  made.signed_by("ca", "server");
  made.signed_by("ca", "other");
  const auto check = [&](const std::string& key) { return check_key(made.file(key), made.file("server.pem")); };
  CHECK(check("server.key").ok());
  CHECK(check("other.key").message() == "it is not the key of the certificate in " + made.file("server.pem"));
  CHECK(check("server.pem").message() == "it holds no private key, or one that needs a passphrase");
  CHECK(check("nowhere.key").message() == "it cannot be read: No such file or directory");
  CHECK(check_key(made.file("server.key"), made.file("nowhere.pem")).ok());
}
