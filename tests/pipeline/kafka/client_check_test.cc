#include "pipeline/kafka/settings.h"

#include <catch2/catch.hpp>

using bloomring::Code;
using bloomring::Status;
using bloomring::kafka::ClientSettings;

namespace {

Status check_with(const std::string& name, const std::string& value) {
  return bloomring::kafka::check(ClientSettings{.bootstrap = "127.0.0.1:1", .properties = {{name, value}}});
}

}  // namespace

TEST_CASE("kafka settings: properties are passed on as they are") {
  CHECK(check_with("security.protocol", "plaintext").ok());
  CHECK(check_with("session.timeout.ms", "6000").ok());
  CHECK(check_with("compression.codec", "lz4").ok());
  CHECK(check_with("enable.auto.commit", "false").ok());
}

TEST_CASE("kafka settings: an unknown property is invalid and named") {
  const Status status = check_with("sesion.timeout.ms", "6000");
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("sesion.timeout.ms"));
}

TEST_CASE("kafka settings: a value out of range is invalid and named") {
  const Status status = check_with("session.timeout.ms", "soon");
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("session.timeout.ms"));
}

TEST_CASE("kafka settings: an empty bootstrap and a long client id are invalid") {
  CHECK(bloomring::kafka::check({.bootstrap = ""}).code() == Code::kInvalid);
  CHECK(bloomring::kafka::check({.bootstrap = "h:1", .client_id = std::string(65, 'x')}).code() == Code::kInvalid);
}
