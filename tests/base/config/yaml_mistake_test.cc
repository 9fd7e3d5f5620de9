#include <catch2/catch.hpp>

#include "tests/base/config/sample_config.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("config: what is not one YAML map is refused with the line") {
  CHECK(message_of("ring:\n  slots: [1\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("kafka:\n  topics: [a, b\nring:\n  slots: 5\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("ring:\n  # slots\n  slots 5\n\n  unit: week\n").substr(0, 13) == "F:3: not YAML");
  const std::string quote = "F:2: not YAML: a quote is opened here and not closed in this line; close it";
  CHECK(message_of("ring:\n  unit: \"week\n  slots: 5\n  slot_seconds: 5\n") == quote);
  CHECK(message_of("ring:\n  unit: 'week\n  slots: 5\n  slot_seconds: '5'\n") == quote);
  CHECK(message_of("ring:\n  unit: \"week\n") == quote);
  CHECK(message_of("ring:\n  unit: it's\n  slots: [1\n").substr(0, 13) == "F:3: not YAML");
  CHECK(message_of("ring\n  slots: 5\n").substr(0, 13) == "F:1: not YAML");
  CHECK(message_of("ring:\n  slots: 5: 6\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("ring:\n\tslots: 1\n") == "F:2: not YAML: a tab indents this line; write blanks instead");
  CHECK(message_of("- a\n") == "F:1: the file must be a YAML map of sections");
  CHECK(message_of("name: a\n---\nname: b\n") == "F:3: a second YAML document; there must be one");
  CHECK(message_of("? [a]\n: b\n") == "F:1: a key must be a word");
}

TEST_CASE("config: a file that begins with a comma is refused") {
  const std::string comma = "not YAML: no value begins like this; write `key: value`";
  CHECK(message_of(", ring") == "F:1: " + comma);
  CHECK(message_of("# a site\n\n  ,ring:\n  slots: 5\n") == "F:3: " + comma);
}
