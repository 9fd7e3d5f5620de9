#include "serving/query/public_reason.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("public reason: a caller learns what it can act on, and nothing of the host, the brokers or the users") {
  const std::string secret = "/var/lib/bloomring/store/000123.sst of broker-1:9092 and user u1";
  CHECK(public_reason(retry(secret)) == "does not answer now");
  CHECK(public_reason(corrupt(secret)) == "is damaged");
  CHECK(public_reason(fatal(secret)) == "failed; the log of the replica has the reason");
  CHECK(public_reason(invalid(secret)) == "failed; the log of the replica has the reason");
}
