#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "base/log.h"
#include "base/version.h"
#include "base/words.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/pages/completion.h"
#include "cli/pages/manual_page.h"

namespace bloomring::cli {
namespace {

// The parsed arguments of all commands, and the chosen command.
struct CommandLine {
  RunArgs run;
  DevArgs dev;
  QueryArgs query;
  ServedArgs served;
  SnapshotArgs snapshot;
  ForgetArgs forget;
  GenerateArgs generate;
  LoadArgs load;
  CheckArgs check;
  TopicsArgs topics;
  InspectArgs inspect;
  StoreArgs store;
  StatusArgs status;
  TopologyArgs topology;
  AclsArgs acls;
  ReferenceArgs reference;
  VersionArgs version;
  Shell shell = Shell::kBash;
  std::string stages;
  std::function<int()> chosen;
};

void declare_run(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("run", "Run stages in one process until SIGTERM");
  add_config_flags(command, line.run.config);
  command
      .add_option("--stages", line.stages,
                  "Stages to run: ingest,window,merge,serve (default: all, or the key `stages`)")
      ->type_name("LIST");
  command.callback([&line, &command] {
    if (command.count("--stages") > 0) line.run.config.overrides.push_back({"stages", line.stages, "--stages"});
    line.chosen = [&line] { return run_command(line.run); };
  });
}

void declare_dev(CLI::App& app, CommandLine& line) {
  DevArgs& args = line.dev;
  CLI::App& command = *app.add_subcommand("dev", "Run the whole chain in one process on an embedded broker and store");
  add_config_flags(command, args.config);
  command
      .add_option("--plays", args.plays,
                  "Plays to send: one JSON object a line, or tab-separated values below a header line that names the "
                  "columns user_id, video_id and time_ms (Unix milliseconds; others are ignored); - is standard input")
      ->type_name("FILE");
  command.add_option("--slot-seconds", args.slot_seconds, "Length of a slot (default: 5)")
      ->check(CLI::Range(1, 86400))
      ->type_name("SECONDS");
  command.add_option("--data", args.data, "Folder for store and state (default: a temporary one)")->type_name("DIR");
  command.add_flag("--shift-to-now", args.shift_to_now,
                   "Move event times so that the newest play is now; needs tab-separated plays");
  command.add_flag("--once", args.once, "End when all plays are merged");
  command.add_flag("--check", args.check,
                   "Compare every user with an exact set before the end; needs tab-separated plays");
  command.callback([&line] { line.chosen = [&line] { return dev_command(line.dev); }; });
}

void declare_query(CLI::App& app, CommandLine& line) {
  QueryArgs& args = line.query;
  CLI::App& command = *app.add_subcommand("query", "Ask the service which items a user has seen");
  add_server_flags(command, args.server, args.tls);
  CLI::Option* user = add_user_flag(command, args.user);
  CLI::Option* batch =
      command.add_flag("--batch", args.batch,
                       "Read questions as JSON lines {\"user\":..,\"scene\":..,\"items\":[..]} from standard input; "
                       "\"all_scenes\":true for --all-scenes");
  user->excludes(batch);
  CLI::Option* scene = command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  command.add_flag("--all-scenes", args.all_scenes, "Ask in all scenes: seen in any of them is seen")
      ->excludes(scene)
      ->excludes(batch);
  add_timeout_flag(command, args.deadline_ms, "Longest time to wait (default: 5000)");
  command.add_option("items", args.items, "Items to ask about; one a line from standard input when none are named");
  add_output_flag(command, args.output);
  command.callback([&line] {
    if (!line.query.batch && line.query.user.empty()) throw CLI::RequiredError("--user");
    line.chosen = [&line] { return query_command(line.query); };
  });
}

void declare_served(CLI::App& app, CommandLine& line) {
  ServedArgs& args = line.served;
  CLI::App& command =
      *app.add_subcommand("served", "Report items that were just shown to a user: they count as seen for a while");
  add_server_flags(command, args.server, args.tls);
  add_user_flag(command, args.user)->required();
  command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  add_timeout_flag(command, args.deadline_ms, "Longest time to wait (default: 5000)");
  command.add_option("items", args.items,
                     "Items in the order in which they were shown; one a line from standard input when none are named");
  add_output_flag(command, args.output);
  command.callback([&line] { line.chosen = [&line] { return served_command(line.served); }; });
}

void declare_snapshot(CLI::App& app, CommandLine& line) {
  SnapshotArgs& args = line.snapshot;
  CLI::App& command = *app.add_subcommand(
      "snapshot", "Fetch all data of a user as one blob (to standard output), or test items against a blob here");
  add_server_flags(command, args.server, args.tls);
  CLI::Option* user = add_user_flag(command, args.user);
  command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  command.add_flag("--strict", args.strict, "Fail rather than fetch an incomplete snapshot");
  command.add_option("--from", args.from, "Read the blob from this file instead of asking the service")
      ->type_name("FILE")
      ->excludes(user);
  CLI::Option* test = command.add_flag("--test", args.test, "Test the items against the blob, in this process");
  add_timeout_flag(command, args.deadline_ms, "Longest time to wait (default: 5000)");
  command.add_option("items", args.items, "Items to test; one a line from standard input when none are named")
      ->needs(test);
  add_output_flag(command, args.output);
  command.callback([&line] {
    if (line.snapshot.from.empty() && line.snapshot.user.empty()) throw CLI::RequiredError("--user or --from");
    line.chosen = [&line] { return snapshot_command(line.snapshot); };
  });
}

// The flags that determine generated plays. The same flags give the same plays.
void add_model_flags(CLI::App& command, ModelArgs& args) {
  command.add_option("--plays", args.plays, "Number of plays (default: 4000000)")->type_name("N");
  command.add_option("--users", args.users, "Number of users (default: 40000)")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N");
  command.add_option("--items", args.items, "Number of items (default: 1000000)")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  command.add_option("--hours", args.hours, "Span of the event times (default: 24)")
      ->check(CLI::Range(1, 100'000))
      ->type_name("HOURS");
  command
      .add_option(
          "--start", args.start,
          "Start of the span, RFC 3339 or Unix milliseconds; its hour shapes the plays (default: the span ends now)")
      ->type_name("TIME");
  command.add_option("--repeats", args.repeats, "Share of plays that repeat a recent item of the user (default: 0.05)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("FRACTION");
  command.add_option("--id-bytes", args.id_bytes, "Pad ids to this length")
      ->check(CLI::Range(0, 128))
      ->type_name("BYTES");
  command.add_option("--seed", args.seed, "The same seed gives the same plays (default: 1)")->type_name("N");
}

void declare_forget(CLI::App& app, CommandLine& line) {
  ForgetArgs& args = line.forget;
  CLI::App& command = *app.add_subcommand("forget", "Make a user unsee items, or everything");
  add_server_flags(command, args.server, args.tls);
  add_user_flag(command, args.user)->required();
  CLI::Option* scene = command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  command.add_flag("--all-scenes", args.all_scenes, "Forget in every scene")->excludes(scene);
  add_timeout_flag(command, args.deadline_ms, "Longest time to wait for each item (default: 5000)");
  CLI::Option* everything =
      command.add_flag("--everything", args.everything, "Forget everything that the user has played in the scene");
  command.add_option("items", args.items, "Items to forget")->excludes(everything);
  add_output_flag(command, args.output);
  command.callback([&line] {
    if (line.forget.items.empty() && !line.forget.everything) throw CLI::RequiredError("an item or --everything");
    line.chosen = [&line] { return forget_command(line.forget); };
  });
}

void declare_generate(CLI::App& app, CommandLine& line) {
  GenerateArgs& args = line.generate;
  CLI::App& command = *app.add_subcommand(
      "generate",
      "Generate plays like a site's: JSON lines on standard output, or records of the topic that --topic names");
  add_config_flags(command, args.config);
  const auto to_bootstrap = [&args](const std::string& bootstrap) {
    args.config.overrides.push_back({"kafka.bootstrap", bootstrap, "--bootstrap"});
  };
  CLI::Option* topic = command.add_option("--topic", args.topic, "Topic to write to, with --execute");
  topic->type_name("NAME");
  command.add_option_function<std::string>("--bootstrap", to_bootstrap, "Brokers of the topic")
      ->needs(topic)
      ->type_name("HOST:PORT");
  command.add_flag("--execute", args.execute, "Write to the topic; without it, only show the plan")
      ->needs(topic);
  add_model_flags(command, args.model);
  command.add_option("--rate", args.rate, "Plays a second (default: 0, as fast as possible)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.callback([&line] { line.chosen = [&line] { return generate_command(line.generate); }; });
}

void declare_load(CLI::App& app, CommandLine& line) {
  LoadArgs& args = line.load;
  CLI::App& command = *app.add_subcommand(
      "load", "Ask a running service as a site would, at a stated rate, and print latencies, errors and CPU");
  add_server_flags(command, args.server, args.tls);
  add_config_flags(command, args.config);
  command.add_option("--admin", args.admin, "Admin address of the service, to print its CPU per call")
      ->type_name("HOST:PORT");
  command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  command.add_option("--rate", args.rate, "Calls a second, at random moments (default: 200)")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("N");
  command.add_option("--seconds", args.seconds, "Time for which calls count (default: 30)")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("SECONDS");
  command.add_option("--warm-up-seconds", args.warm_up_seconds, "Load before that time; does not count (default: 2)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS");
  command.add_option("--candidates-min", args.candidates_min, "Fewest candidates in a call (default: 2000)")
      ->check(CLI::Range(1, 20'000))
      ->type_name("N");
  command.add_option("--candidates-max", args.candidates_max, "Most candidates in a call (default: 10000)")
      ->check(CLI::Range(1, 20'000))
      ->type_name("N");
  command.add_option("--seen-min", args.seen_min, "Smallest share of the candidates that was played (default: 0.05)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("FRACTION");
  command.add_option("--seen-max", args.seen_max, "Largest share of the candidates that was played (default: 0.3)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("FRACTION");
  command
      .add_option("--served", args.served,
                  "Items recorded as served after each answer, in the log of the service (default: 0)")
      ->check(CLI::Range(0, 1'000))
      ->type_name("N");
  command.add_option("--connections", args.connections, "Connections over which calls are spread (default: 2)")
      ->check(CLI::Range(1, 1'000))
      ->type_name("N");
  add_timeout_flag(command, args.timeout_ms, "Deadline of each call (default: 1000)");
  command
      .add_option("--plays-file", args.plays_file,
                  "Plays that the service has read: JSON lines, read by the keys under `events` of --config, or "
                  "tab-separated plays (default: the plays that `generate` makes from the flags below)")
      ->type_name("FILE");
  add_model_flags(command, args.model);
  add_output_flag(command, args.output);
  command.callback([&line] { line.chosen = [&line] { return load_command(line.load); }; });
}

void declare_check(CLI::App& app, CommandLine& line) {
  CheckArgs& args = line.check;
  CLI::App& command =
      *app.add_subcommand("check", "Check the configuration, and the brokers, topics and store that it names");
  add_config_flags(command, args.config);
  command.add_flag("--print", args.print,
                   "Print the configuration in force, with the origin of each value; secrets hidden");
  command.add_flag("--offline", args.offline, "Check the configuration alone: no brokers, store, folders or ports");
  command.add_option("--user", args.user,
                     "Compare the rights in Kafka of these users, {stage} standing for the stage (default: the user "
                     "of kafka.properties)")
      ->type_name("NAME");
  add_output_flag(command, args.output);
  command.callback([&line] { line.chosen = [&line] { return check_command(line.check); }; });
}

void declare_topics(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("topics", "Show the topics, and create those that are missing");
  add_config_flags(command, line.topics.config);
  CLI::Option* execute = command.add_flag("--execute", line.topics.execute,
                                          "Create them, except topics of plays; without it, only show them");
  command.add_flag("--create-plays", line.topics.create_plays, "With --execute: create topics of plays, too")
      ->needs(execute);
  add_output_flag(command, line.topics.output);
  command.callback([&line] { line.chosen = [&line] { return topics_command(line.topics); }; });
}

void declare_status(CLI::App& app, CommandLine& line) {
  StatusArgs& args = line.status;
  CLI::App& command = *app.add_subcommand("status", "Show the operations page of a running process in the terminal");
  add_config_flags(command, args.config);
  command.add_option("--admin", args.admin, "Admin port of the process (default: admin.listen)")
      ->type_name("HOST:PORT");
  CLI::Option* watch = command.add_flag("--watch", args.watch, "Show it again and again, until it is interrupted");
  command.add_option("--every", args.every_seconds, "Time from one to the next, with --watch (default: 2)")
      ->needs(watch)
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  add_word(command, "--output", args.output,
           std::map<std::string, OutputFormat>{{"json", OutputFormat::kJson}, {"text", OutputFormat::kText}},
           "Form of the page (default: text)");
  command.callback([&line] { line.chosen = [&line] { return status_command(line.status); }; });
}

void declare_inspect(CLI::App& app, CommandLine& line) {
  InspectArgs& args = line.inspect;
  CLI::App& command = *app.add_subcommand("inspect", "Show stored data, decoded");
  const std::map<std::string, InspectSubject> words = {{"user", InspectSubject::kUser},
                                                    {"filter", InspectSubject::kFilter},
                                                    {"ring", InspectSubject::kRing},
                                                    {"store", InspectSubject::kStore}};
  add_word(command, "what", args.what, words, "Data to show")->required();
  add_config_flags(command, args.config);
  add_user_flag(command, args.user, "User id, for user and filter");
  CLI::Option* scene = command.add_option(
      "--scene", args.scene, "Scene, for user (default: all, no scene first) and filter (default: none)");
  scene->type_name("NAME");
  add_server_flags(command, args.server, args.tls,
                   "For user: the service that holds recent plays and served items (default: serve.listen)");
  command.add_flag("--erasure", args.erasure, "For user: also the places that still keep its data, and until when");
  command.add_option("--period", args.period, "Period, for filter: 2026-11")->type_name("PERIOD");
  command.add_option("--partition", args.partition, "One partition, for ring (default: all)")->type_name("N");
  add_output_flag(command, args.output);
  command.callback([&line, scene] {
    line.inspect.all_scenes = scene->count() == 0;
    line.chosen = [&line] { return inspect_command(line.inspect); };
  });
}

void declare_store(CLI::App& app, CommandLine& line) {
  StoreArgs& args = line.store;
  CLI::App& command = *app.add_subcommand("store", "Back up, restore, check and move the filter store");
  const std::map<std::string, StoreAction> words = {{"backup", StoreAction::kBackup},
                                                  {"list", StoreAction::kList},
                                                  {"restore", StoreAction::kRestore},
                                                  {"check", StoreAction::kCheck},
                                                  {"new-log", StoreAction::kNewLog},
                                                  {"slot-length", StoreAction::kSlotLength},
                                                  {"export", StoreAction::kExport},
                                                  {"import", StoreAction::kImport}};
  add_word(
      command, "what", args.what, words,
      "backup: take a backup while the process runs; list: list the backups; restore: copy a backup into an empty "
      "store.path; check: read every value; new-log: keep the filters and forget the log that they came from; "
      "slot-length: use ring.slot_seconds as the length of slots from now on; export: write the store to files, while "
      "the process runs; import: fill an empty store of any kind from them")
      ->required();
  add_config_flags(command, args.config);
  CLI::Option* backup =
      command.add_option("--backup", args.backup, "Number of a backup, for restore and check; 0 is the newest")
          ->type_name("N");
  command.add_option("--admin", args.admin, "Admin port of the process that writes the store (default: admin.listen)")
      ->type_name("HOST:PORT");
  CLI::Option* to = command.add_option("--to", args.folder, "For export: the folder of the files");
  to->type_name("DIR");
  CLI::Option* from = command.add_option("--from", args.folder, "For import: the folder of the files");
  from->type_name("DIR")->excludes(to);
  command.add_flag("--execute", args.execute,
                   "For new-log, slot-length and import: make the change; without it, only show it");
  command.add_flag("--accept-erased", args.accept_erased,
                   "For restore and import: take a backup or an export that is older than the log, which brings back "
                   "users who were erased since");
  add_output_flag(command, args.output);
  command.callback([&line, backup] {
    line.store.of_backup = backup->count() > 0;
    line.chosen = [&line] { return store_command(line.store); };
  });
}

void declare_topology(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("topology", "Print the stages, and the topics and stores between them");
  const std::map<std::string, TopologyFormat> words = {
      {"json", TopologyFormat::kJson}, {"mermaid", TopologyFormat::kMermaid}, {"text", TopologyFormat::kText}};
  add_word(command, "--output", line.topology.format, words, "Form of the result (default: json)");
  command.callback([&line] { line.chosen = [&line] { return topology_command(line.topology); }; });
}

void declare_acls(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("acls", "Print the least rights in Kafka that each stage needs");
  add_config_flags(command, line.acls.config);
  command.add_option("--user", line.acls.user,
                     "Name in Kafka; {stage} stands for the stage (default: bloomring-{stage})");
  const std::map<std::string, AclsFormat> words = {
      {"commands", AclsFormat::kCommands}, {"json", AclsFormat::kJson}, {"strimzi", AclsFormat::kStrimzi}};
  add_word(command, "--output", line.acls.format, words,
           "Form of the result: rights, commands of kafka-acls.sh, or KafkaUser objects (default: json)");
  command.callback([&line] { line.chosen = [&line] { return acls_command(line.acls); }; });
}

void declare_reference(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("reference", "Print a reference page, made from the declarations");
  const std::map<std::string, ReferencePage> words = {
      {"config", ReferencePage::kConfig}, {"metrics", ReferencePage::kMetrics}, {"topics", ReferencePage::kTopics}};
  add_word(command, "what", line.reference.what, words, "Page to print")->required();
  command.callback([&line] { line.chosen = [&line] { return reference_command(line.reference); }; });
}

void declare_version(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("version", "Print version, commit and compiler, and versions of libraries");
  add_output_flag(command, line.version.output);
  command.callback([&line] { line.chosen = [&line] { return version_command(line.version); }; });
}

int print_page(const std::string& page) {
  print(page);
  return finish_output(0);
}

// They are made of all commands, so they read `app` when it is complete.
void declare_pages(CLI::App& app, CommandLine& line) {
  CLI::App& completion =
      *app.add_subcommand("completion", "Print a script that completes commands and flags in a shell");
  const std::map<std::string, Shell> words = {{"bash", Shell::kBash}, {"fish", Shell::kFish}, {"zsh", Shell::kZsh}};
  add_word(completion, "shell", line.shell, words, "Shell that reads the script")->required();
  completion.callback([&app, &line] {
    line.chosen = [&app, &line] { return print_page(completion_for(line.shell, read_sheets(app))); };
  });
  CLI::App& manual = *app.add_subcommand("manual", "Print the manual page, for man");
  manual.callback([&app, &line] {
    line.chosen = [&app] { return print_page(manual_page(version(), read_sheets(app))); };
  });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// The flags of a command, as typed.
std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

int refuse(const std::string& sentence, const std::string& command) {
  const std::string help = "`bloomring " + (command.empty() ? "" : command + " ") + "--help` shows what there is";
  return report(invalid(sentence + "\n" + help));
}

int refuse_parse(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "" : command.get_name();
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return refuse(error.what(), name);
  // Unknown flags are reported first: a required flag that CLI11 misses is often the misspelt one.
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const bool flag = word.starts_with("-");
  return refuse("unknown " + std::string(flag ? "flag " : "argument ") + word + hint_for(word, flag_names(command)),
                name);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  log_start(LogLevel::kInfo, LogFormat::kText);  // Until a configuration sets it.
  CLI::App app("Keeps a recommender from showing a user items that the user has already played.", "bloomring");
  CommandLine line;
  app.set_version_flag("--version", "bloomring " + std::string(version()), "Print the version and exit");
  app.require_subcommand(1);
  declare_run(app, line);
  declare_dev(app, line);
  declare_query(app, line);
  declare_served(app, line);
  declare_snapshot(app, line);
  declare_forget(app, line);
  declare_generate(app, line);
  declare_load(app, line);
  declare_check(app, line);
  declare_topics(app, line);
  declare_inspect(app, line);
  declare_status(app, line);
  declare_store(app, line);
  declare_topology(app, line);
  declare_acls(app, line);
  declare_reference(app, line);
  declare_version(app, line);
  declare_pages(app, line);
  const std::vector<std::string> names = command_names(app);
  for (const std::string& name : names) app.get_subcommand(name)->footer("\n" + help_footer(name));
  if (argc < 2) return refuse("a command is missing", "");
  const std::string first = argv[1];
  if (!first.starts_with("-") && std::find(names.begin(), names.end(), first) == names.end()) {
    return refuse("unknown command " + first + hint_for(first, names), "");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return finish_output(app.exit(error, std::cout, std::cerr));
    return refuse_parse(app, error);
  }
  return finish_output(line.chosen());
}

}  // namespace bloomring::cli
