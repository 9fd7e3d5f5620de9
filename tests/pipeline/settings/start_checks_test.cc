#include "pipeline/settings/start_checks.h"

#include "tests/pipeline/settings/keys/loaded.h"
#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// Checks the folders of a process with these stages and a store of this kind. The folder of the store is a file.
StartFindings check_with_file(const Folder& folder, const std::string& kind, const std::string& stages) {
  write_file(folder / "file", "");
  const auto loaded = load({{"stages", stages},
                            {"store.kind", kind},
                            {"store.redis.addresses", "127.0.0.1:6379"},
                            {"store.path", folder / "file"},
                            {"state.path", folder / "state"}});
  REQUIRE(loaded.ok());
  return check_folders(loaded->settings);
}

}  // namespace

TEST_CASE("start checks: a store.path that is no folder refuses the stages of an embedded store, and only these") {
  const Folder folder;
  for (const char* stages : {"merge", "window", "serve", "ingest,window,merge,serve"}) {
    INFO(stages);
    const StartFindings found = check_with_file(folder, "embedded", stages);
    REQUIRE(found.errors.size() == 1);
    CHECK_THAT(found.errors.front(), Catch::StartsWith("store.path is " + (folder / "file") + ": ") &&
                                         Catch::Contains("is no folder; name "));
  }
  CHECK(check_with_file(folder, "embedded", "ingest").errors.empty());
}

TEST_CASE("start checks: a filter store on servers needs no folder, so store.path refuses no stage") {
  const Folder folder;
  for (const char* stages : {"merge", "window", "serve", "ingest,window,merge,serve"}) {
    INFO(stages);
    const StartFindings found = check_with_file(folder, "redis", stages);
    CHECK(found.errors.empty());
    CHECK(found.warnings.empty());
  }
}

TEST_CASE("start checks: state.path is checked for either kind of store, where a stage keeps state there") {
  const Folder folder;
  write_file(folder / "file", "");
  for (const char* kind : {"embedded", "redis"}) {
    INFO(kind);
    const auto told = [&](const std::string& stages) {
      const auto loaded = load({{"stages", stages},
                                {"store.kind", kind},
                                {"store.redis.addresses", "127.0.0.1:6379"},
                                {"store.path", folder / "store"},
                                {"state.path", folder / "file"}});
      REQUIRE(loaded.ok());
      return check_folders(loaded->settings).errors;
    };
    REQUIRE(told("window").size() == 1);
    CHECK_THAT(told("window").front(), Catch::StartsWith("state.path is " + (folder / "file") + ": "));
    CHECK(told("merge").empty());
  }
}
