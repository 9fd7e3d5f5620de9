// A bloomring process: the stages that the settings name, with what they share.
//
//   start --> wait_ready --> (runs) --> stop
//
// The embedded filter store is opened for writing when the merge stage runs here; other stages follow the store of the
// merge process on the same machine. Stages start from the end of the flow to its beginning and stop the other way
// round, so that nothing is produced that nobody reads.
// Failure: `start` says what is wrong with the set-up (kInvalid) or the surroundings; later failures end up in
// `failure`, are logged, and make /healthz fail.
// Threading: one thread owns the process; `failure` may be called from any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "pipeline/admin_server.h"
#include "pipeline/group_poller.h"
#include "pipeline/health.h"
#include "pipeline/settings.h"
#include "pipeline/stage_context.h"
#include "pipeline/watchdog.h"

namespace bloomring {

class EmbeddedFilterStore;
class IngestStage;
class WindowStage;
class MergeStage;
class ServeStage;
class Worker;

class Process {
 public:
  static Result<std::unique_ptr<Process>> start(const Settings& settings, const Clock& clock);
  ~Process();

  bool ready() const { return health_.ready(); }
  // {"ready":true,"kafka":"127.0.0.1:40001","grpc":"127.0.0.1:40002","admin":"127.0.0.1:40003"}: what the process has.
  std::string ready_line() const;
  std::string grpc_address() const;
  std::string admin_address() const { return admin_->address(); }
  // Plays that are answered from memory: they leave a lap after they were merged.
  uint64_t recent_plays() const;
  // Why the process cannot go on, once it cannot.
  std::optional<Status> failure() const;
  // Ends every stage with everything durable that can be. May hang with what it waits for: see pipeline/stop_bound.h.
  void stop() { stop(Going::kComesBack); }
  void stop(Going going);
  // What its threads are busy with for a second or more, for the log.
  std::string busy_with() const { return watchdog_.busy_with(); }

  Metrics& metrics() { return metrics_; }
  FilterStore& filters() { return *filters_; }
  const Calendar& calendar() const { return *calendar_; }

 private:
  Process(const Settings& settings, const Clock& clock);
  Status open();
  Status open_store();
  // The answer to POST /store/backup, in a process that writes the embedded store.
  AdminPage back_up_store(EmbeddedFilterStore& store);
  Status plan();
  Status verify_topics();
  Status start_stages();
  void fail(std::string_view stage, const Status& status);
  void write_memory(Scrape& scrape) const;

  const Settings settings_;
  const Clock& clock_;
  std::optional<Calendar> calendar_;
  Metrics metrics_;
  Health health_;
  Watchdog watchdog_;
  mutable std::mutex failure_mutex_;
  std::optional<Status> failure_;

  std::optional<MemoryPlan> plan_;
  kafka::ClientSettings kafka_;
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<StateMemory> memory_;
  std::unique_ptr<FilterStore> filters_;
  std::mutex backup_mutex_;  // One backup at a time.
  AdminActions actions_;
  std::unique_ptr<Worker> refresher_;  // Follows the store where another process writes it.
  std::unique_ptr<StageContext> context_;
  std::unique_ptr<ServeStage> serve_;
  std::unique_ptr<MergeStage> merge_;
  std::unique_ptr<WindowStage> window_;
  std::unique_ptr<IngestStage> ingest_;
  Metrics::Registration registration_;
  std::unique_ptr<AdminServer> admin_;
};

}  // namespace bloomring
