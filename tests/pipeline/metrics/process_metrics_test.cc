#include "pipeline/metrics/process_metrics.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"

using namespace bloomring;

TEST_CASE("folders: the bytes of all files below count, and a folder that is missing has none") {
  const testing::Folder folder;
  std::filesystem::create_directories(folder / "a/b");
  std::ofstream(folder / "one") << "1234";
  std::ofstream(folder / "a/b/two") << "123456";
  CHECK(tree_bytes(folder / "") == 10);
  CHECK(tree_bytes(folder / "none") == 0);
}
