#include "pipeline/settings/keys/all_keys.h"

#include <catch2/catch.hpp>
#include <cctype>

#include "pipeline/stages/topology.h"

using namespace bloomring;

TEST_CASE("settings: every key is documented, has its environment variable and a unit where its name has none") {
  Settings settings;
  Config config;
  declare_settings(config, settings, topology());
  const std::string page = settings_reference(topology());
  for (const ConfigKey& key : config.keys()) {
    INFO(key.name());
    CHECK(key.doc_text().size() > 10);
    CHECK((std::isupper(static_cast<unsigned char>(key.doc_text().front())) != 0 || key.doc_text().front() == '`'));
    CHECK(key.doc_text().back() == '.');
    CHECK(key.doc_text().find('|') == std::string::npos);  // It stands in a Markdown table.
    CHECK(page.find("| `" + key.name() + "` |") != std::string::npos);
    CHECK(page.find("`" + key.environment_variable() + "`") != std::string::npos);
  }
}
