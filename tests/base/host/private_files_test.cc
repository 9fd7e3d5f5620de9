#include "base/host/private_files.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

namespace fs = std::filesystem;

std::string mode_of(const std::string& path) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(fs::status(path).permissions()));
  return text;
}

// The change is one of the whole process, so a child makes it. Its exit code is 0 when `check` holds.
bool holds_in_a_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("private files: what a process makes, only its user may read") {
  const Folder folder;
  CHECK(holds_in_a_child([&] {
    ::umask(0022);
    keep_files_private();
    write_file(folder / "file", "x");
    return fs::create_directory(folder / "folder");
  }));
  CHECK(mode_of(folder / "file") == "0600");
  CHECK(mode_of(folder / "folder") == "0700");
}

TEST_CASE("private files: a process that forbids core dumps leaves none, and nothing attaches to it") {
  CHECK(holds_in_a_child([] {
    forbid_core_dumps();
    rlimit core{1, 1};
    return ::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0 &&
           ::prctl(PR_GET_DUMPABLE) == 0;
  }));
}

TEST_CASE("private files: a mode that lets others read is told, and a group may where a mount needs it") {
  const Folder folder;
  const std::string path = folder / "secret";
  write_file(path, "x");
  const auto told = [&](unsigned mode, bool group_may) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    return readable_by_others(path, group_may);
  };
  CHECK(told(0600, false) == "");
  CHECK(told(0400, false) == "");
  CHECK(told(0640, false) == "mode 0640");
  CHECK(told(0640, true) == "");
  CHECK(told(0644, true) == "mode 0644");
  CHECK(told(0604, false) == "mode 0604");
  CHECK(readable_by_others(folder / "none") == "");
}

TEST_CASE("private files: a secret is the file without the line end that an editor adds") {
  const Folder folder;
  for (const auto& [text, secret] : std::vector<std::pair<std::string, std::string>>{
           {"abc", "abc"}, {"abc\n", "abc"}, {"abc\r\n", "abc"}, {" a b \n", " a b "}, {"a\nb\n\n", "a\nb\n"}}) {
    INFO(text);
    write_file(folder / "secret", text);
    CHECK(read_secret(folder / "secret").value() == secret);
  }
}

TEST_CASE("private files: a secret that is absent, a folder, empty or too large is refused with its path") {
  const Folder folder;
  CHECK(read_secret(folder / "none").status().message() == folder / "none: cannot be read: No such file or directory");
  CHECK(read_secret(folder.path()).status().message() == folder.path() + ": cannot be read: Is a directory");
  write_file(folder / "empty", "\n");
  CHECK(read_secret(folder / "empty").status().message() == folder / "empty: is empty");
  write_file(folder / "large", std::string(kSecretBytesMax + 1, 'x'));
  CHECK(read_secret(folder / "large").code() == Code::kInvalid);
  write_file(folder / "largest", std::string(kSecretBytesMax, 'x'));
  CHECK(read_secret(folder / "largest").value().size() == kSecretBytesMax);
}
