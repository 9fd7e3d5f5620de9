// The commands of the `bloomring` binary, as functions of what was typed. command_line.cc fills the structs in; each
// command has a file of its own.
//
// Every command returns the exit code: 0 done, 1 it failed, 2 the command line or the configuration is wrong, 3 it was
// done and found what must not be (load: an item that was played is unseen; dev --once: plays were refused; topics:
// some are missing).
// Results go to standard output, everything else to standard error (output.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/calls/forget_command.h"
#include "cli/calls/query_command.h"
#include "cli/calls/served_command.h"
#include "cli/calls/snapshot_command.h"
#include "cli/model_args.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

inline constexpr int kFoundWhatMustNotBe = 3;

enum class OutputFormat : uint8_t { kJson, kText };

// --config and --set, as most commands take them.
struct ConfigArgs {
  std::string path;                   // No file when empty: the environment and defaults then.
  std::vector<std::string> sets;      // "ring.slots=5"
  std::vector<ConfigFlag> overrides;  // From flags of the command that stand for a key: --stages.
};

// Settings from all sources; warnings have been written to the log, which is started as the settings say, also where
// others are wrong.
Result<Settings> load_command_settings(const ConfigArgs& args);
// The same without starting the log, for commands that show warnings themselves.
// `log` is what they say of it, also on failure.
Result<LoadedSettings> load_all_settings(const ConfigArgs& args, LogSettings* log = nullptr);

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

// Of a command that asks the service: its own options, and the form of the result, which sets `text` of the options.
template <typename Options>
struct ClientArgs : Options {
  ClientArgs() {
    this->server = "127.0.0.1:7700";
    this->deadline_ms = 5'000;
  }
  OutputFormat output = OutputFormat::kJson;
};
using QueryArgs = ClientArgs<QueryOptions>;
int query_command(QueryArgs args);
using SnapshotArgs = ClientArgs<SnapshotOptions>;
int snapshot_command(SnapshotArgs args);
using ServedArgs = ClientArgs<ServedOptions>;
int served_command(ServedArgs args);
using ForgetArgs = ClientArgs<ForgetOptions>;
int forget_command(ForgetArgs args);

struct GenerateArgs {
  ConfigArgs config;     // Field names, and for a topic the brokers; --bootstrap stands for the key kafka.bootstrap.
  std::string topic;     // JSON lines on standard output when empty.
  bool execute = false;  // Write to the topic; otherwise only show what would be written.
  ModelArgs model;
  double rate = 0;  // Plays a second; 0 is as fast as it goes.
};
int generate_command(const GenerateArgs& args);

struct LoadArgs {
  ConfigArgs config;  // How the records of plays_file are read: the keys under `events`.
  std::string server = "127.0.0.1:7700";
  TlsClientFiles tls;
  std::string scene;
  std::string admin;       // Of the service, to know what CPU it takes.
  std::string plays_file;  // What the service was given; the generated plays of `model` when empty.
  ModelArgs model;
  double rate = 200;  // Calls of Filter a second.
  double seconds = 30;
  double warm_up_seconds = 2;
  uint32_t candidates_min = 2'000;
  uint32_t candidates_max = 10'000;
  double seen_min = 0.05;  // Parts of the candidates.
  double seen_max = 0.30;
  uint32_t served = 0;  // Recorded after each answer.
  uint32_t connections = 2;
  int64_t timeout_ms = 1'000;
  OutputFormat output = OutputFormat::kJson;
};
int load_command(const LoadArgs& args);

struct CheckArgs {
  ConfigArgs config;
  bool print = false;    // Print the effective configuration instead of a verdict.
  bool offline = false;  // The file alone; ask no broker and open no store.
  OutputFormat output = OutputFormat::kJson;
};
int check_command(const CheckArgs& args);

struct TopicsArgs {
  ConfigArgs config;
  bool execute = false;       // Create what is missing; otherwise only show.
  bool create_plays = false;  // Topics of plays, too.
  OutputFormat output = OutputFormat::kJson;
};
int topics_command(const TopicsArgs& args);

enum class InspectWhat : uint8_t { kUser, kFilter, kRing, kStore };
struct InspectArgs {
  InspectWhat what = InspectWhat::kStore;
  ConfigArgs config;
  std::string user;            // For user and filter.
  std::string scene;
  bool all_scenes = true;      // For user: no scene was named.
  std::string server;          // For user: who knows the recent plays; serve.listen when empty.
  TlsClientFiles tls;
  std::string period;      // For filter: "2026-11".
  int32_t partition = -1;  // For ring: one partition, or -1 for all.
  OutputFormat output = OutputFormat::kJson;
};
int inspect_command(const InspectArgs& args);

enum class StoreWhat : uint8_t { kBackup, kList, kRestore, kCheck, kNewLog, kSlotLength };
struct StoreArgs {
  StoreWhat what = StoreWhat::kCheck;
  ConfigArgs config;
  uint32_t backup = 0;     // For restore and check: its number, 0 for the newest.
  bool of_backup = false;  // For check: a backup instead of the store.
  std::string admin;       // For backup: where the process that writes the store answers; admin.listen when empty.
  bool execute = false;    // For new-log and slot-length.
  OutputFormat output = OutputFormat::kJson;
};
int store_command(const StoreArgs& args);

enum class TopologyFormat : uint8_t { kJson, kText, kMermaid };
struct TopologyArgs {
  TopologyFormat format = TopologyFormat::kJson;
};
int topology_command(const TopologyArgs& args);

enum class ReferenceWhat : uint8_t { kConfig, kMetrics, kTopics };
struct ReferenceArgs {
  ReferenceWhat what = ReferenceWhat::kConfig;
};
int reference_command(const ReferenceArgs& args);

}  // namespace bloomring::cli
