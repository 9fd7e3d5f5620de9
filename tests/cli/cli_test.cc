// Runs the real binary: exit codes, what goes where, and what it says about what was typed wrong.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string read_all(const std::filesystem::path& path) {
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

Outcome run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  return Scratch().run(std::move(arguments), std::move(environment));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("cli: help and version are results and exit with 0") {
  CHECK(run({"--version"}).out == "bloomring " BLOOMRING_VERSION "\n");
  const Outcome help = run({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err == "");
  for (const char* command : {"run", "dev", "query", "served", "forget", "snapshot", "generate", "load", "check",
                              "topics", "inspect", "store", "reference"}) {
    INFO(command);
    CHECK(contains(help.out, "\n  " + std::string(command) + " "));
    const Outcome own = run({command, "--help"});
    CHECK(own.exit_code == 0);
    CHECK(contains(own.out, "Usage: bloomring " + std::string(command)));
    CHECK(contains(own.out, "Examples:\n  bloomring " + std::string(command) + " "));
    CHECK(contains(own.out, "Exit codes:\n  0  done\n  1  "));
    CHECK(own.err == "");
  }
}

TEST_CASE("cli: a command line that is wrong exits with 2 and names the nearest right word") {
  const auto refused = [](std::vector<std::string> arguments, const std::string& first_line) {
    const Outcome outcome = run(std::move(arguments));
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out == "");
    CHECK(outcome.err.substr(0, outcome.err.find('\n')) == "bloomring: " + first_line);
    CHECK(contains(outcome.err, "--help` shows what there is\n"));
  };
  refused({}, "a command is missing");
  refused({"qurey"}, "unknown command qurey; did you mean query?");
  refused({"delete"}, "unknown command delete");
  refused({"--verison"}, "unknown flag --verison; did you mean --version?");
  refused({"run", "--confg", "x"}, "unknown flag --confg; did you mean --config?");
  refused({"query", "--usr", "u1", "v1"}, "unknown flag --usr; did you mean --user?");
  refused({"query", "v1"}, "--user is required");
  refused({"run", "extra"}, "unknown argument extra");
  refused({"reference"}, "what is required");
  refused({"reference", "cofnig"}, "what: cofnig must be one of config, metrics, topics; did you mean config?");
  refused({"check", "--output", "xml"}, "--output: xml must be one of json, text");
  refused({"generate", "--bootstrap", "127.0.0.1:1"}, "--bootstrap requires --topic");
  refused({"generate", "--execute"}, "--execute requires --topic");
  refused({"snapshot"}, "--user or --from is required");
  refused({"query", "--user", "u1", "--tls-cert", "c.pem", "v1"}, "--tls-cert requires --tls-ca");
  refused({"load", "--candidates-max", "20001"}, "--candidates-max: Value 20001 not in range 1 to 20000");
  refused({"query", "--user", "u1", "--server", "127.0.0.1", "v1"},
          "--server: 127.0.0.1 must be HOST:PORT, as 127.0.0.1:7700");
  refused({"query", "--user", "u1", "--server", "a:7700,b", "v1"}, "--server: b must be HOST:PORT, as b:7700");
  refused({"dev", "--slot-seconds", "0"}, "--slot-seconds: Value 0 not in range 1 to 86400");
}

TEST_CASE("cli: bounds of a load that are the wrong way round are refused") {
  const Outcome outcome = run({"load", "--seen-min", "0.5"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err == "bloomring: --seen-min is more than --seen-max\n");
}

TEST_CASE("cli: a load that nobody answers prints its errors by code and exits with 1") {
  const Outcome outcome =
      run({"load", "--server", "127.0.0.1:1", "--rate", "100", "--seconds", "0.1", "--warm-up-seconds", "0", "--users",
           "10", "--plays", "1000", "--candidates-max", "2000", "--timeout-ms", "60000"});
  CHECK(outcome.exit_code == 1);
  CHECK(nlohmann::json::parse(outcome.out)["filter"]["errors"]["UNAVAILABLE"] > 0);
  CHECK(contains(outcome.err, "127.0.0.1:1: no call was answered"));
}

TEST_CASE("cli: check says that a configuration is fine, as JSON or text") {
  const Scratch scratch;
  const std::string file = scratch.file("kafka: {bootstrap: \"b:9092\"}\nring: {slots: 8}\n");
  const Outcome json = scratch.run({"check", "--offline", "--config", file});
  CHECK(json.exit_code == 0);
  CHECK(json.err == "");
  const auto verdict = nlohmann::json::parse(json.out);
  CHECK(verdict["ok"] == true);
  CHECK(verdict["file"] == file);
  CHECK(verdict["warnings"].empty());
  CHECK(contains(scratch.run({"check", "--offline", "--config", file, "--output", "text"}).out, "configuration: ok\n"));
}

TEST_CASE("cli: check refuses a wrong configuration with file, line and nearest key, and exits with 2") {
  const Scratch scratch;
  const std::string file = scratch.file("ring:\n  slot_second: 5\n  slots: 2\n");
  const Outcome outcome = scratch.run({"check", "--config", file});
  CHECK(outcome.exit_code == 2);
  const auto verdict = nlohmann::json::parse(outcome.out);
  CHECK(verdict["ok"] == false);
  REQUIRE(verdict["findings"].size() == 2);
  CHECK(verdict["findings"][1] == nlohmann::json({{"severity", "error"},
                                                  {"key", "ring.slots"},
                                                  {"value", "2"},
                                                  {"place", file + ":3"},
                                                  {"reason", "ring.slots is 2"},
                                                  {"way_out", "it must be an integer in [3, 64]"}}));
  CHECK(outcome.err == "bloomring: " + file + ":2: unknown key ring.slot_second; did you mean ring.slot_seconds?\n" +
                           "bloomring: " + file + ":3: ring.slots is 2; it must be an integer in [3, 64]\n");
  CHECK(scratch.run({"check", "--config", "/nonexistent.yaml"}).exit_code == 2);
}

TEST_CASE("cli: flags go over the environment, the environment over the file, and each value says where it is from") {
  const Scratch scratch;
  const std::string file =
      scratch.file("ring: {slots: 7, slot_seconds: 70}\nkafka: {properties: {sasl.password: hunter2}}\n");
  const Outcome outcome = scratch.run({"check", "--print", "--config", file, "--set", "ring.drain_spread=0.25"},
                                      {"BLOOMRING_RING_SLOTS=8", "BLOOMRING_RING_DRAIN_SPREAD=0.75"});
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "  slots: 8  # BLOOMRING_RING_SLOTS\n"));
  CHECK(contains(outcome.out, "  slot_seconds: 70  # " + file + ":1\n"));
  CHECK(contains(outcome.out, "  drain_spread: 0.25  # --set ring.drain_spread\n"));
  CHECK(contains(outcome.out, "  level: info  # default\n"));
  CHECK_FALSE(contains(outcome.out, "hunter2"));
}

TEST_CASE("cli: what check prints can be used as a configuration") {
  const Scratch scratch;
  const std::string printed = scratch.run({"check", "--print", "--set", "ring.slots=9"}).out;
  const Outcome again = scratch.run({"check", "--print", "--config", scratch.file(printed)});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.out, "  slots: 9  # "));
}

TEST_CASE("cli: --set takes one KEY=VALUE each time") {
  CHECK(run({"check", "--print", "--set", "ring.slots=9", "--set", "ring.slot_seconds=9"}).exit_code == 0);
  CHECK(run({"check", "--set", "ring.slots"}).err ==
        "bloomring: --set ring.slots: it must be KEY=VALUE, as --set ring.slots=5\n");
  CHECK(run({"check", "--set", "ring.slots=99"}).err ==
        "bloomring: --set ring.slots: ring.slots is 99; it must be an integer in [3, 64]\n");
}

TEST_CASE("cli: --set takes an entry of a map by its name") {
  const Outcome outcome = run({"check", "--print", "--set", "kafka.properties.sasl.username=me"});
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "sasl.username: me"));
}

TEST_CASE("cli: a variable that is one slip away from a key is a warning") {
  const Outcome outcome =
      run({"check", "--offline"}, {"BLOOMRING_RNIG_SLOTS=3", "BLOOMRING_KAFKA_BOOTSTRAP=b:9092"});
  CHECK(outcome.exit_code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["warnings"][0] ==
        "BLOOMRING_RNIG_SLOTS is not a configuration variable; did you mean BLOOMRING_RING_SLOTS?");
}

TEST_CASE("cli: the reference pages list keys and metrics") {
  const Outcome config = run({"reference", "config"});
  CHECK(config.exit_code == 0);
  CHECK(contains(config.out,
                 "| `ring.slot_seconds` | integer in [1, 86400], seconds | `3600` | `BLOOMRING_RING_SLOT_SECONDS` |"));
  const Outcome metrics = run({"reference", "metrics"});
  CHECK(metrics.exit_code == 0);
  CHECK(contains(metrics.out, "| `bloomring_event_to_seen_seconds` | histogram |"));
}

TEST_CASE("cli: output that cannot be written is a failure") {
  const Outcome outcome = Scratch().run_to("/dev/full", {"reference", "config"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "bloomring: standard output cannot be written: No space left on device\n");
}

TEST_CASE("cli: output that cannot be written is told once") {
  const Outcome outcome = Scratch().run_to("/dev/full", {"check", "--print"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "bloomring: standard output cannot be written: No space left on device\n");
}

TEST_CASE("cli: what a client could not do is a result in JSON, and words alone in text") {
  const std::vector<std::vector<std::string>> commands = {{"query", "--user", "u1", "v1"},
                                                          {"served", "--user", "u1", "v1"},
                                                          {"forget", "--user", "u1", "v1"},
                                                          {"snapshot", "--user", "u1", "--test", "v1"}};
  for (std::vector<std::string> words : commands) {
    INFO(words.front());
    words.insert(words.end(), {"--server", "127.0.0.1:1", "--timeout-ms", "60000"});
    const Outcome json = run(words);
    CHECK(json.exit_code == 1);
    CHECK(nlohmann::json::parse(json.out)["error"].get<std::string>() + "\n" == json.err);
    words.insert(words.end(), {"--output", "text"});
    CHECK(run(words).out == "");
  }
  const Outcome inspect = run({"inspect", "store", "--set", "store.path=/nonexistent"});
  CHECK(inspect.exit_code == 2);
  CHECK(contains(nlohmann::json::parse(inspect.out)["error"], "store.path /nonexistent does not exist"));
}

TEST_CASE("cli: a file that is no snapshot is named") {
  const Scratch scratch;
  const Outcome outcome = scratch.run({"snapshot", "--from", scratch.file("garbage"), "--test", "v1"});
  CHECK(outcome.exit_code != 0);
  CHECK(contains(outcome.err, "bloomring.yaml: "));
}
