#include "base/host/memory_bound.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace bloomring;

namespace {

namespace fs = std::filesystem;

// The files of a machine's cgroups, in a folder of the test.
class Machine {
 public:
  explicit Machine(const std::string& groups) {
    std::string name = (fs::temp_directory_path() / "memory_bound_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    write("proc", groups);
  }
  ~Machine() { fs::remove_all(folder_); }
  Machine& write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
    return *this;
  }
  // "BYTES in PATH", "none".
  std::string bound() const {
    const auto found = memory_bound({.of_process = folder_ / "proc", .root = folder_ / "fs"});
    if (!found) return "none";
    return std::to_string(found->bytes) + " in " + fs::path(found->file).lexically_relative(folder_ / "fs").string();
  }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("memory bound: that of a container, which sees its own cgroup as the root") {
  CHECK(Machine("0::/\n").write("fs/memory.max", "2147483648\n").bound() == "2147483648 in memory.max");
  CHECK(Machine("0::/kubepods/pod17/c1\n").write("fs/memory.max", "2147483648\n").bound() ==
        "2147483648 in memory.max");
}

TEST_CASE("memory bound: the smallest of the cgroup and those above it") {
  Machine unit("0::/system.slice/bloomring.service\n");
  unit.write("fs/system.slice/memory.max", "max\n").write("fs/system.slice/bloomring.service/memory.max", "3000\n");
  CHECK(unit.bound() == "3000 in system.slice/bloomring.service/memory.max");
  CHECK(unit.write("fs/system.slice/memory.max", "2000\n").bound() == "2000 in system.slice/memory.max");
  CHECK(unit.write("fs/system.slice/memory.max", "4000\n").bound() ==
        "3000 in system.slice/bloomring.service/memory.max");
}

TEST_CASE("memory bound: version 1 has a hierarchy for memory, and a number where there is no limit") {
  Machine machine("9:name=systemd:/\n4:cpu,memory:/docker/c1\n0::/\n");
  machine.write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(machine.bound() == "none");
  CHECK(machine.write("fs/memory/docker/c1/memory.limit_in_bytes", "4096\n").bound() ==
        "4096 in memory/docker/c1/memory.limit_in_bytes");
}

TEST_CASE("memory bound: none where nothing tells of one, and none of text that is no number") {
  CHECK(Machine("").write("fs/memory.max", "4096\n").bound() == "none");
  CHECK(Machine("nonsense\n0:\n0::/\n").bound() == "none");
  for (const char* text : {"max\n", "", "-1\n", "1 2\n", "99999999999999999999999\n"}) {
    INFO(text);
    CHECK(Machine("0::/\n").write("fs/memory.max", text).bound() == "none");
  }
  CHECK_FALSE(memory_bound({.of_process = "/nonexistent/proc", .root = "/nonexistent/fs"}).has_value());
}
