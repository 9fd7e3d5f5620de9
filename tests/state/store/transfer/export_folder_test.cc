#include "state/store/transfer/export_folder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/folder.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("export folder: one process at a time has it") {
  Folder folder;
  const auto first = ExportFolder::open(folder / "export", true);
  REQUIRE(first.ok());
  const auto second = ExportFolder::open(folder / "export", false);
  CHECK(second.code() == Code::kInvalid);
}

TEST_CASE("export folder: a disk that takes no more is fatal, with the name of the file, and leaves nothing") {
  Folder folder;
  const auto opened = ExportFolder::open(folder / "export", true);
  REQUIRE(opened.ok());
  REQUIRE(symlink("/dev/full", (folder / "export/values-000001.brx.part").c_str()) == 0);
  const Status status = opened->write(1, "bytes");
  CHECK(status.code() == Code::kFatal);
  CHECK(status.message().find("values-000001.brx") != std::string::npos);
  CHECK(status.message().find("No space left on device") != std::string::npos);
  CHECK(opened->empty().value());
}

TEST_CASE("export folder: a damaged manifest is named") {
  Folder folder;
  const auto opened = ExportFolder::open(folder / "export", true);
  REQUIRE(opened.ok());
  CHECK(opened->manifest().value() == std::nullopt);
  std::ofstream(folder / "export/manifest") << "not a manifest";
  CHECK(opened->manifest().code() == Code::kCorrupt);
}
