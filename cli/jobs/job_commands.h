// The commands of jobs, as functions of their arguments: `bloomring replay`, `bloomring export` and the like.
//
// Exit codes as in cli/commands.h; a job that was stopped returns 1, so that whoever started it starts it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace bloomring::cli {

// The arguments that all jobs have.
struct JobArgs {
  ConfigArgs config;
  std::string name;            // Of the job.
  bool execute = false;        // false: only show the plan.
  std::optional<double> rate;  // Units a second.
  std::vector<std::string> watch;  // Admin ports; empty: admin.listen.
  bool unwatched = false;          // No live signals.
  OutputFormat output = OutputFormat::kJson;
};

enum class ReplayForm : uint8_t { kJson, kBlocks };

struct ReplayArgs : JobArgs {
  std::string topics;         // Comma-separated; empty: the topics of the form in the source's configuration.
  std::string from, until;    // As pipeline/jobs/replay/replay_range.h reads them.
  std::string source_config;  // File; empty: `config`.
  ReplayForm form = ReplayForm::kJson;
};
int replay_command(const ReplayArgs& args);

enum class OldStoreKind : uint8_t { kZset };

// Where a job over the old store has its keys from; both empty: all keys, by SCAN.
struct OldKeysArgs {
  std::string keys;   // File with a key a line...
  std::string users;  // ...or with a user id a line.
};

struct MigrateArgs : JobArgs {
  OldStoreKind what = OldStoreKind::kZset;
  OldKeysArgs keys;
  std::string share = "0/1";    // Of the users: INDEX/COUNT.
  std::string refused;          // File for what is refused; empty: only counts.
};
int migrate_command(const MigrateArgs& args);

struct ExportArgs : JobArgs {
  OldStoreKind what = OldStoreKind::kZset;
  std::vector<std::string> topics;  // Empty: topics.plays.
  std::string from, until;          // As pipeline/jobs/export/export_position.h reads them.
  std::string refused;              // As of migrate.
};
int export_command(const ExportArgs& args);

struct VerifyArgs : JobArgs {
  std::string server = "127.0.0.1:7700";
  TlsClientFiles tls;
  OldKeysArgs keys;
  double sample = 1;
  uint32_t probes = 10;
  double settle_seconds = 5;
  std::string differences;  // File for what is missing; empty: only counts.
};
int verify_command(const VerifyArgs& args);

enum class JobsAction : uint8_t { kList, kRate, kRemove };

struct JobsArgs {
  ConfigArgs config;
  JobsAction action = JobsAction::kList;
  std::string name;  // For rate and remove.
  double rate = 0;   // For rate.
  OutputFormat output = OutputFormat::kJson;
};
int jobs_command(const JobsArgs& args);

}  // namespace bloomring::cli
