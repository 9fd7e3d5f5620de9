#include "pipeline/kafka/property_rules.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/settings.h"

using bloomring::Code;
using bloomring::Status;
using bloomring::kafka::ClientSettings;

namespace {

Status check_with(const std::string& name, const std::string& value) {
  return bloomring::kafka::check(ClientSettings{.bootstrap = "127.0.0.1:1", .properties = {{name, value}}});
}

}  // namespace

TEST_CASE("kafka settings: what would break a promise is refused with the reason") {
  const auto [name, value] =
      GENERATE(table<std::string, std::string>({{"enable.auto.commit", "true"},
                                                {"enable.auto.offset.store", "true"},
                                                {"partition.assignment.strategy", "cooperative-sticky"},
                                                {"auto.offset.reset", "latest"},
                                                {"acks", "1"},
                                                {"message.timeout.ms", "30000"},
                                                {"transactional.id", "t"},
                                                {"client.rack", "a"},
                                                {"isolation.level", "read_uncommitted"},
                                                {"message.max.bytes", "2000000"},
                                                {"plugin.library.paths", "monitoring-interceptor"},
                                                {"ssl.engine.location", "/usr/lib/engines/pkcs11.so"},
                                                {"enable.ssl.certificate.verification", "false"},
                                                {"group.id", "g"}}));
  const Status status = check_with(name, value);
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("kafka.properties must not set " + name));
}
