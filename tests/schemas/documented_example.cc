#include "tests/schemas/documented_example.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace bloomring {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::vector<DocumentedBlock> documented_blocks(std::string_view language) {
  std::ifstream file(BLOOMRING_FORMATS_DOCUMENT);
  const std::string fence = "```";
  std::vector<DocumentedBlock> blocks;
  std::string title;
  bool in_block = false, wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(fence)) {
      in_block = !in_block;
      wanted = in_block && line == fence + std::string(language);
      if (wanted) blocks.push_back({title, {}});
    } else if (wanted) {
      blocks.back().text += line + "\n";
    } else if (!in_block && line.starts_with("#")) {
      title = line.substr(line.find(' ') + 1);
    }
  }
  return blocks;
}

std::string documented_block(std::string_view section, std::string_view language) {
  for (const DocumentedBlock& block : documented_blocks(language)) {
    if (block.section == section) return block.text;
  }
  FAIL("docs/formats.md has no block of " << language << " in the section " << section);
  return {};
}

std::string documented_example(std::string_view section) {
  std::istringstream lines(documented_block(section, "hex"));
  std::string bytes;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view code = std::string_view(line).substr(0, line.find("  "));
    int high = -1;
    for (const char c : code) {
      if (c == ' ') continue;
      INFO(line);
      REQUIRE(digit(c) >= 0);
      if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit(c)));
      high = high >= 0 ? -1 : digit(c);
    }
    REQUIRE(high == -1);
  }
  return bytes;
}

}  // namespace bloomring
