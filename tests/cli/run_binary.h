// Runs the real binary: exit codes, what goes where, and what it says about what was typed wrong.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bloomring::testing {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A folder of its own for each test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "cli_test_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& text) const {
    const std::filesystem::path path = folder_ / "bloomring.yaml";
    std::ofstream(path) << text;
    return path.string();
  }

  // Runs the binary with these arguments and these variables and no others.
  Outcome run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
    return run_to((folder_ / "out").string(), std::move(arguments), std::move(environment));
  }
  Outcome run_to(const std::string& out, std::vector<std::string> arguments,
                 std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), BLOOMRING_BINARY);
    const std::string err = (folder_ / "err").string();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    const int error = posix_spawn(&child, BLOOMRING_BINARY, &files, nullptr, pointers(arguments).data(),
                                  pointers(environment).data());
    posix_spawn_file_actions_destroy(&files);
    REQUIRE(error == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(folder_ / "out"), read_all(err)};
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  }
  std::filesystem::path folder_;
};

inline Outcome run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  return Scratch().run(std::move(arguments), std::move(environment));
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace bloomring::testing
