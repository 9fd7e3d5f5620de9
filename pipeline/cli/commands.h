// The commands of the `bloomring` binary, as functions of what was typed. command_line.cc fills the structs in; each
// command has a file of its own.
//
// Every command returns the exit code: 0 done, 1 it failed, 2 the command line or the configuration is wrong. Results
// go to standard output, everything else to standard error (output.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"

namespace bloomring::cli {

enum class OutputFormat : uint8_t { kJson, kText };

// --config and --set, as most commands take them.
struct ConfigArgs {
  std::string path;                   // No file when empty: the environment and defaults then.
  std::vector<std::string> sets;      // "ring.slots=5"
  std::vector<ConfigFlag> overrides;  // From flags of the command that stand for a key: --stages.
};

// Settings from all sources; warnings have been written to the log, which is started as the settings say.
Result<Settings> load_command_settings(const ConfigArgs& args);
// The same without starting the log, for commands that show warnings themselves.
Result<LoadedSettings> load_all_settings(const ConfigArgs& args);

struct RunArgs {
  ConfigArgs config;
};
int run_command(const RunArgs& args);

struct DevArgs {
  ConfigArgs config;
  std::string plays;  // File of plays to send; "-" is standard input, none when empty.
  uint32_t slot_seconds = 5;
  std::string data;           // Folder for store and state; a temporary one when empty.
  bool shift_to_now = false;  // Move event times so that the newest play is now.
  bool once = false;          // End when the file is read and merged.
  bool check = false;         // At the end, compare all users of the file with exact sets.
};
int dev_command(const DevArgs& args);

struct QueryArgs {
  std::string server = "127.0.0.1:7700";
  std::string user;
  std::string scene;
  std::vector<std::string> items;  // From standard input, one a line, when empty.
  bool batch = false;              // Questions as JSON lines from standard input.
  uint32_t timeout_ms = 5000;
  OutputFormat output = OutputFormat::kJson;
};
int query_command(const QueryArgs& args);

struct ServedArgs {
  std::string server = "127.0.0.1:7700";
  std::string user;
  std::string scene;
  std::vector<std::string> items;  // From standard input, one a line, when empty.
  uint32_t timeout_ms = 5000;
};
int served_command(const ServedArgs& args);

struct GenerateArgs {
  ConfigArgs config;      // For Kafka; --bootstrap stands for the key kafka.bootstrap.
  bool to_kafka = false;  // Otherwise JSON lines on standard output.
  std::string topic;      // The first of topics.plays when empty.
  uint64_t seed = 1;
  uint32_t users = 40'000;
  uint64_t plays = 4'000'000;
  uint32_t items = 1'000'000;
  uint32_t hours = 24;    // Span of the event times.
  double repeats = 0.05;
  double rate = 0;        // Plays a second; 0 is as fast as it goes.
  std::string start;      // Event time of the beginning; `hours` ago when empty.
  uint32_t id_bytes = 0;  // Ids are filled up to this length.
};
int generate_command(const GenerateArgs& args);

struct CheckArgs {
  ConfigArgs config;
  bool print = false;    // Print the effective configuration instead of a verdict.
  bool offline = false;  // The file alone; ask no broker and open no store.
  OutputFormat output = OutputFormat::kJson;
};
int check_command(const CheckArgs& args);

struct TopicsArgs {
  ConfigArgs config;
  bool execute = false;  // Create what is missing; otherwise only show.
  OutputFormat output = OutputFormat::kJson;
};
int topics_command(const TopicsArgs& args);

enum class InspectWhat : uint8_t { kUser, kFilter, kRing, kStore };
struct InspectArgs {
  InspectWhat what = InspectWhat::kStore;
  ConfigArgs config;
  std::string user;  // For user and filter.
  std::string scene;
  std::string period;      // For filter: "2026-11".
  int32_t partition = -1;  // For ring: one partition, or -1 for all.
  OutputFormat output = OutputFormat::kJson;
};
int inspect_command(const InspectArgs& args);

enum class ReferenceWhat : uint8_t { kConfig, kMetrics, kTopics };
struct ReferenceArgs {
  ReferenceWhat what = ReferenceWhat::kConfig;
};
int reference_command(const ReferenceArgs& args);

}  // namespace bloomring::cli
