#include "base/host/memory_bound.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace bloomring {

namespace {

namespace fs = std::filesystem;

// Version 1 writes the largest number of whole pages where there is no limit, and no machine has an exbibyte.
constexpr uint64_t kNoBound = uint64_t{1} << 60;

// The number in a file of one line; nothing for `max` and for a file that is not there.
std::optional<uint64_t> limit_in(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  uint64_t bytes = 0;
  if (!std::getline(in, text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || bytes >= kNoBound) return std::nullopt;
  return bytes;
}

// Looks into the cgroup and all above it.
void look(const fs::path& root, std::string_view path, const char* name, std::optional<MemoryBound>& least) {
  fs::path below = fs::path(path).relative_path();
  for (bool at_root = false; !at_root; below = below.parent_path()) {
    at_root = below.empty();
    const fs::path file = (at_root ? root : root / below) / name;
    const auto bytes = limit_in(file);
    if (bytes && (!least || *bytes < least->bytes)) least = {*bytes, file.string()};
  }
}

bool has_memory(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::optional<MemoryBound> memory_bound(const CgroupFiles& files) {
  std::optional<MemoryBound> least;
  std::ifstream groups(files.of_process);
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view path = std::string_view(line).substr(second + 1);
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controllers.empty()) look(files.root, path, "memory.max", least);
    if (has_memory(controllers)) look(fs::path(files.root) / "memory", path, "memory.limit_in_bytes", least);
  }
  return least;
}

}  // namespace bloomring
