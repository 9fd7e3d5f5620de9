#include "base/config/finding.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string parts(const char* line) {
  const SetupFinding found = finding_of(line);
  CHECK(found.text == line);
  return found.place + "|" + found.key + "|" + found.value + "|" + found.reason + "|" + found.way_out;
}

}  // namespace

TEST_CASE("finding: a line about the set-up is place, key, value, reason and way out") {
  CHECK(parts("site.yaml:3: ring.slots is 99; it must be an integer in [3, 64]") ==
        "site.yaml:3|ring.slots|99|ring.slots is 99|it must be an integer in [3, 64]");
  CHECK(parts("BLOOMRING_RING_SLOTS: ring.slots is x; it must be an integer in [3, 64]") ==
        "BLOOMRING_RING_SLOTS|ring.slots|x|ring.slots is x|it must be an integer in [3, 64]");
  CHECK(parts("--set kafka.bootstrap: kafka.bootstrap has b; it must be host:port,host:port") ==
        "--set kafka.bootstrap|kafka.bootstrap|b|kafka.bootstrap has b|it must be host:port,host:port");
  CHECK(parts("a.yaml:2: unknown key rnig; did you mean ring?") ==
        "a.yaml:2|rnig||unknown key rnig|did you mean ring?");
  CHECK(parts("topic user-events: retention.ms is 5, wanted is 6; run `x`") ==
        "|topic user-events|5|topic user-events: retention.ms is 5, wanted is 6|run `x`");
  CHECK(parts("--set x: kafka.properties must not set acks to '1': a record is acknowledged by all; leave it out") ==
        "--set x|kafka.properties||kafka.properties must not set acks to '1': a record is acknowledged by all|leave it "
        "out");
  CHECK(parts("F:1: kafka.properties sasl.password holds ${S}, and so on; set X") ==
        "F:1|kafka.properties|${S}|kafka.properties sasl.password holds ${S}, and so on|set X");
  CHECK(parts("topic plays does not exist") == "|topic plays||topic plays does not exist|correct topic plays");
  CHECK(parts("kafka.bootstrap is a:1,b:1: no broker answered within 5 s") ==
        "|kafka.bootstrap|a:1,b:1|kafka.bootstrap is a:1,b:1: no broker answered within 5 s|correct kafka.bootstrap");
  CHECK(parts("/nonexistent.yaml: cannot be read: No such file or directory") ==
        "|||/nonexistent.yaml: cannot be read: No such file or directory|correct what is named");
  CHECK(parts("") == "||||correct what is named");
  CHECK(parts("F:2: not YAML: a tab indents this line; write blanks instead") ==
        "F:2|||not YAML: a tab indents this line|write blanks instead");
}

TEST_CASE("finding: a message of several lines is as many findings, success is none") {
  CHECK(findings_of(Status()).empty());
  CHECK(findings_of(invalid("a.b is 1\nc.d is 2; no")).size() == 2);
}
