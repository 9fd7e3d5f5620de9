#include "pipeline/settings/window_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/folder.h"

namespace bloomring {

namespace fs = std::filesystem;

TEST_CASE("window folders: those of all partitions are removed with their files, and nothing else of state.path") {
  const testing::Folder folder;
  Settings settings;
  settings.state.path = folder.path();
  settings.topics.partitions = 2;
  const fs::path state = folder.path();
  for (const char* name : {"window-0/files", "window-1", "window-2", "store"}) fs::create_directories(state / name);
  for (int twice = 0; twice < 2; ++twice) {
    REQUIRE(remove_window_folders(settings).ok());
    CHECK_FALSE(fs::exists(state / "window-0"));
    CHECK_FALSE(fs::exists(state / "window-1"));
    CHECK(fs::exists(state / "window-2"));
    CHECK(fs::exists(state / "store"));
  }
}

TEST_CASE("window folders: one that cannot be removed is named, with the way on") {
  Settings settings;
  settings.state.path = "/proc/self/task";  // No folder of it can be removed; a name beyond 255 bytes is refused.
  settings.state.path = "/" + std::string(300, 'x');  // A name that no file system takes.
  settings.topics.partitions = 1;
  const Status status = remove_window_folders(settings);
  REQUIRE(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("window-0 cannot be removed: ") && Catch::EndsWith("run this again"));
}

}  // namespace bloomring
