#include "cli/line/installation_flags.h"

#include <map>
#include <string>

namespace bloomring::cli {

namespace {

void declare_check(CLI::App& app, CheckArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen] { chosen = [&args] { return check_command(args); }; });
}

void declare_topics(CLI::App& app, TopicsArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("topics", "Show the topics, and create those that are missing");
  add_config_flags(command, args.config);
  command.add_flag("--execute", args.execute, "Create them, except topics of plays; without it, only show them");
  command.add_flag("--create-plays", args.create_plays, "With --execute, or --output strimzi: topics of plays, too");
  const std::map<std::string, TopicsFormat> words = {
      {"json", TopicsFormat::kJson}, {"strimzi", TopicsFormat::kStrimzi}, {"text", TopicsFormat::kText}};
  add_word(command, "--output", args.format, words,
           "Form of the result; strimzi: KafkaTopic objects, without asking the brokers (default: json)");
  command.callback([&args, &chosen] {
    const bool prints_objects = args.format == TopicsFormat::kStrimzi;
    if (args.create_plays && !args.execute && !prints_objects)
      throw CLI::RequiresError("--create-plays", "--execute or --output strimzi");
    if (args.execute && prints_objects) throw CLI::ExcludesError("--execute", "--output strimzi");
    chosen = [&args] { return topics_command(args); };
  });
}

void declare_inspect(CLI::App& app, InspectArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen, scene] {
    args.all_scenes = scene->count() == 0;
    chosen = [&args] { return inspect_command(args); };
  });
}

void declare_store(CLI::App& app, StoreArgs& args, Chosen& chosen) {
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
  add_admin_flag(command, args.admin, " that writes the store");
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
  command.callback([&args, &chosen, backup] {
    args.of_backup = backup->count() > 0;
    chosen = [&args] { return store_command(args); };
  });
}

void declare_status(CLI::App& app, StatusArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("status", "Show the operations page of a running process in the terminal");
  add_config_flags(command, args.config);
  add_admin_flag(command, args.admin);
  CLI::Option* watch = command.add_flag("--watch", args.watch, "Show it again and again, until it is interrupted");
  command.add_option("--every", args.every_seconds, "Time from one to the next, with --watch (default: 2)")
      ->needs(watch)
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  add_word(command, "--output", args.output,
           std::map<std::string, OutputFormat>{{"json", OutputFormat::kJson}, {"text", OutputFormat::kText}},
           "Form of the page (default: text)");
  command.callback([&args, &chosen] { chosen = [&args] { return status_command(args); }; });
}

void declare_log_level(CLI::App& app, LogLevelArgs& args, Chosen& chosen) {
  CLI::App& command =
      *app.add_subcommand("log-level", "Show the level of a running process's log, or change it until the next start");
  std::map<std::string, std::string> words;
  for (const char* word : {"configured", "debug", "error", "info", "warning"}) words.emplace(word, word);
  add_word(command, "level", args.level, words, "Lowest level to write from now on; configured: that of log.level");
  add_config_flags(command, args.config);
  add_admin_flag(command, args.admin);
  add_output_flag(command, args.output);
  command.callback([&args, &chosen] { chosen = [&args] { return log_level_command(args); }; });
}

void declare_bundle(CLI::App& app, BundleArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "bundle", "Write a tar file for a bug report: configuration without secrets, metrics, status, versions");
  add_config_flags(command, args.config);
  add_admin_flag(command, args.admin);
  command.add_option("--to", args.to, "File to write, which must not be there (default: bloomring-bundle.tar)")
      ->type_name("FILE");
  command.callback([&args, &chosen] { chosen = [&args] { return bundle_command(args); }; });
}

void declare_topology(CLI::App& app, TopologyArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("topology", "Print the stages, and the topics and stores between them");
  const std::map<std::string, TopologyFormat> words = {
      {"json", TopologyFormat::kJson}, {"mermaid", TopologyFormat::kMermaid}, {"text", TopologyFormat::kText}};
  add_word(command, "--output", args.format, words, "Form of the result (default: json)");
  command.callback([&args, &chosen] { chosen = [&args] { return topology_command(args); }; });
}

void declare_acls(CLI::App& app, AclsArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("acls", "Print the least rights in Kafka that each stage, and jobs, need");
  add_config_flags(command, args.config);
  command.add_option("--user", args.user,
                     "Name in Kafka; {stage} stands for the stage, or for jobs (default: bloomring-{stage})");
  const std::map<std::string, AclsFormat> words = {
      {"commands", AclsFormat::kCommands}, {"json", AclsFormat::kJson}, {"strimzi", AclsFormat::kStrimzi}};
  add_word(command, "--output", args.format, words,
           "Form of the result: rights, commands of kafka-acls.sh, or KafkaUser objects (default: json)");
  command.callback([&args, &chosen] { chosen = [&args] { return acls_command(args); }; });
}

}  // namespace

void declare_installation(CLI::App& app, InstallationArgs& args, Chosen& chosen) {
  declare_check(app, args.check, chosen);
  declare_topics(app, args.topics, chosen);
  declare_inspect(app, args.inspect, chosen);
  declare_status(app, args.status, chosen);
  declare_store(app, args.store, chosen);
  declare_log_level(app, args.log_level, chosen);
  declare_bundle(app, args.bundle, chosen);
  declare_topology(app, args.topology, chosen);
  declare_acls(app, args.acls, chosen);
}

}  // namespace bloomring::cli
