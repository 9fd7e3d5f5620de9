#include "cli/admin/tar_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/folder.h"

using namespace bloomring;
using namespace bloomring::cli;

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("tar file: tar finds every part with its text, whatever its size") {
  const testing::Folder folder;
  const fs::path at = folder.path();
  std::vector<TarPart> parts;
  for (const size_t size : {0u, 1u, 511u, 512u, 513u, 70'000u})
    parts.push_back({"part-" + std::to_string(size), std::string(size, 'x')});
  parts.push_back({std::string(100, 'n'), "the longest name"});
  std::ofstream(at / "a.tar", std::ios::binary) << tar_of(parts, 1'764'130'000'000);
  REQUIRE(std::system(("tar -C " + at.string() + " -xf " + (at / "a.tar").string()).c_str()) == 0);
  for (const TarPart& part : parts) {
    INFO(part.name);
    CHECK(text_of(at / part.name) == part.text);
    CHECK(fs::status(at / part.name).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  }
}

TEST_CASE("tar file: it consists of whole blocks and ends with two that are empty") {
  const std::string tar = tar_of({{"a", "text"}}, 0);
  CHECK(tar.size() == 4 * 512);
  CHECK(tar.substr(2 * 512) == std::string(2 * 512, '\0'));
  CHECK(tar_of({}, 0) == std::string(2 * 512, '\0'));
}
