#include "cli/check/check_rights.h"

#include <catch2/catch.hpp>

using bloomring::cli::principal_of;

TEST_CASE("cli: check knows the user of a login by name, and says that it does not know others") {
  CHECK(principal_of({}) == "User:ANONYMOUS");
  CHECK(principal_of({{"security.protocol", "plaintext"}}) == "User:ANONYMOUS");
  for (const char* mechanism : {"PLAIN", "SCRAM-SHA-512"})
    CHECK(principal_of({{"security.protocol", "sasl_ssl"}, {"sasl.mechanisms", mechanism}, {"sasl.username", "u"}}) ==
          "User:u");
  CHECK(principal_of({{"security.protocol", "SASL_PLAINTEXT"}, {"sasl.mechanism", "PLAIN"}, {"sasl.username", "u"}}) ==
        "User:u");
  CHECK(principal_of({{"security.protocol", "ssl"}, {"sasl.username", "u"}}).empty());
  for (const char* mechanism : {"GSSAPI", "OAUTHBEARER"})
    CHECK(principal_of({{"security.protocol", "sasl_ssl"}, {"sasl.mechanisms", mechanism}, {"sasl.username", "u"}}) ==
          "");
}
