#include <filesystem>
#include <sstream>

#include "base/clock.h"
#include "base/faults/fault_environment.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/dev/dev_folder.h"
#include "cli/dev/dev_world.h"
#include "cli/output.h"
#include "load/play_template.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/stages/topology.h"

namespace bloomring::cli {

namespace {

constexpr int kWaitMs = 50;
constexpr uint32_t kDevPartitions = 10;

// A folder for this run, removed at its end unless the user named one.
class DataFolder {
 public:
  explicit DataFolder(const std::string& named) : path_(named), temporary_(named.empty()) {
    if (!temporary_) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "bloomring-dev-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~DataFolder() {
    std::error_code ignored;
    if (temporary_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
};

void adapt(Settings& settings, const DevArgs& args, const std::string& folder) {
  settings.ring.slot_seconds = args.slot_seconds;
  settings.topics.partitions = kDevPartitions;
  settings.store.path = folder + "/store";
  settings.state.path = folder + "/state";
  settings.serve.listen = "127.0.0.1:0";
  settings.serve.tls = {};
  settings.serve.drain_seconds = 0;
  settings.admin.listen = "127.0.0.1:0";
  settings.stages = all_stages(topology());
}

// Shows an example query: played items, a play from just now, and an item never played.
Status show_query(DevWorld& world, const PlayFile& file, const PlayMapping& mapping, int64_t now_ms) {
  if (file.played.empty()) return {};
  const auto& [user, items] = *file.played.begin();
  BLOOMRING_TRY(world.feed({PlayTemplate(mapping).play(user, "just-played", now_ms)}));
  std::string answer;
  for (int i = 0; i < 100 && answer.find("\"recent\"") == std::string::npos && !stop_signal_within(kWaitMs); ++i) {
    answer = world.query_line(user, {*items.begin(), *items.rbegin(), "just-played", "never-played"});
  }
  print("a query         bloomring query --server " + world.process().grpc_address() + " --user " + user + " " +
        *items.begin() + " " + *items.rbegin() + " just-played never-played\n" + answer);
  return {};
}

Status show_check(DevWorld& world, const PlayFile& file) {
  BLOOMRING_TRY_ASSIGN(const DevCheck check, world.check(file));
  std::ostringstream out;
  out << "check           " << check.users << " users against exact sets: " << check.unseen << " unseen of "
      << check.played << " played; " << check.false_positives << " of " << check.probes << " never played items seen ("
      << check.expected << " expected)\n";
  print(out.str());
  if (!check.passed()) return fatal("the check failed");
  return {};
}

Status wait_for_the_end(DevWorld& world) {
  while (!stop_signal_within(kWaitMs)) {
    if (const auto failure = world.process().failure()) return *failure;
  }
  return {};
}

// Stands before the configuration that was loaded, on the operations page; see `adapt`.
const std::string kDevOwn =
    "# bloomring dev sets the brokers, the folders, the ports, the stages, topics.partitions and ring.slot_seconds by "
    "itself.\n";

// Returns the exit code.
Result<int> run(const DevArgs& args, Settings settings, const std::string& configuration, const Clock& clock) {
  PlayFile file;
  const PlayMapping mapping = settings.events.mapping();
  if (!args.plays.empty()) {
    auto read = read_play_file(args.plays, args.shift_to_now ? clock.now_ms() : 0, mapping);
    BLOOMRING_TRY(read.status().with_context("--plays"));
    file = std::move(*read);
  }
  if (args.check && file.played.empty())
    return invalid("--check needs --plays with tab-separated values, to know the plays");
  const DataFolder folder(args.data);
  if (folder.path().empty()) return fatal("no temporary folder could be made; name one with --data");
  adapt(settings, args, folder.path());
  BLOOMRING_TRY(begin_log_in(folder.path(), settings, clock));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<DevWorld> world,
                       DevWorld::make(settings, kDevOwn + configuration, clock, [] { return stop_signal_within(0); }));
  BLOOMRING_TRY(world->wait_ready());
  print(world->process().ready_line() + "\n");
  BLOOMRING_TRY(world->feed(file.json));
  if (!args.once) {
    BLOOMRING_TRY(wait_for_the_end(*world));
    log_info("ended by a signal; the data of the embedded broker and of a temporary folder is lost");
    return 0;
  }
  BLOOMRING_TRY(world->wait_until_merged());
  print(world->summary());
  BLOOMRING_TRY(show_query(*world, file, mapping, clock.now_ms()));
  if (args.check) BLOOMRING_TRY(show_check(*world, file));
  if (world->plays_refused() == 0) return 0;
  log_error("plays were refused; see above", {{"refused", world->plays_refused()}, {"plays", file.json.size()}});
  return kFoundWhatMustNotBe;
}

}  // namespace

int dev_command(const DevArgs& args) {
  hold_stop_signals();
  const SystemClock system;
  const auto wrong_clock = faults_of_environment(system);
  if (!wrong_clock.ok()) return report(wrong_clock.status());
  std::string configuration;
  const auto settings = load_command_settings(args.config, SettingsUse::kRunStages, &configuration);
  if (!settings.ok()) return report(settings.status());
  const Result<int> code = run(args, *settings, configuration, *wrong_clock ? **wrong_clock : system);
  return finish_output(code.ok() ? *code : report(code.status()));
}

}  // namespace bloomring::cli
