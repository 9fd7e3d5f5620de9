#include "cli/line/job_flags.h"

#include <map>
#include <string>

namespace bloomring::cli {

namespace {

CLI::Validator positive_rate() { return CLI::Range(0.001, 1e9); }

void add_from_flag(CLI::App& command, std::string& from) {
  command
      .add_option("--from", from,
                  "First record: its time in the log, RFC 3339 or Unix milliseconds, or an offset for each partition "
                  "of one topic, as 0=1200,1=900 (default: the oldest)")
      ->type_name("TIME|OFFSETS");
}

void declare_replay(CLI::App& app, ReplayArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "replay", "Bring the plays of a topic, with their own event times, into a living installation");
  add_job_flags(command, args, "records, or events of blocks,");
  command
      .add_option("--topic", args.topics,
                  "Topics to read (default: topics.plays, or topics.user_events with --form blocks)")
      ->type_name("NAME,...");
  add_from_flag(command, args.from);
  command
      .add_option("--until", args.until, "End, without it, in the same form (default: the end at the first start)")
      ->type_name("TIME|OFFSETS");
  const std::map<std::string, ReplayForm> forms = {{"blocks", ReplayForm::kBlocks}, {"json", ReplayForm::kJson}};
  add_word(command, "--form", args.form, forms,
           "Form of the records: plays in JSON, or event blocks of an installation (default: json)");
  command
      .add_option("--source-config", args.source_config,
                  "Configuration of the installation whose log is read: brokers, topics, names of fields (default: "
                  "--config)")
      ->type_name("FILE");
  command.callback([&args, &chosen] { chosen = [&args] { return replay_command(args); }; });
}

void add_keys_flags(CLI::App& command, OldKeysArgs& args) {
  CLI::Option* keys = command.add_option("--keys", args.keys,
                                         "File with a key of the old store a line, or of `verify --differences` "
                                         "(default: all keys of migrate.keys)");
  keys->type_name("FILE");
  command
      .add_option("--users", args.users,
                  "File with a user id a line: the keys that migrate.keys gives them, in each scene of events.scenes")
      ->excludes(keys)
      ->type_name("FILE");
}

void add_old_store_word(CLI::App& command, OldStoreKind& kind) {
  const std::map<std::string, OldStoreKind> kinds = {{"zset", OldStoreKind::kZset}};
  add_word(command, "what", kind, kinds, "zset: a sorted set for each user, as the keys under migrate describe it")
      ->required();
}

void declare_migrate(CLI::App& app, MigrateArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "migrate", "Bring the history of a site's old store, sorted sets of a Redis, into a living installation");
  add_old_store_word(command, args.what);
  add_job_flags(command, args, "plays");
  add_keys_flags(command, args.keys);
  command.add_option("--share", args.share, "Part of the users that this job takes, of several (default: 0/1)")
      ->type_name("INDEX/COUNT");
  command.add_option("--refused", args.refused, "File to which each refused key and member is appended")
      ->type_name("FILE");
  command.callback([&args, &chosen] { chosen = [&args] { return migrate_command(args); }; });
}

void declare_export(CLI::App& app, ExportArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "export", "Write what users play to the sorted sets of a site's old store, and go on with what they play next");
  add_old_store_word(command, args.what);
  add_job_flags(command, args, "records");
  command.add_option("--topic", args.topics, "Topics to read (default: topics.plays)")
      ->delimiter(',')
      ->type_name("NAME,...");
  add_from_flag(command, args.from);
  command
      .add_option("--until", args.until,
                  "End, without it: `now` for that of the log at the first start, else as --from (default: none, it "
                  "goes on until it is stopped)")
      ->type_name("now|TIME|OFFSETS");
  command.add_option("--refused", args.refused, "File to which each refused record and key is appended")
      ->type_name("FILE");
  command.callback([&args, &chosen] { chosen = [&args] { return export_command(args); }; });
}

void declare_verify(CLI::App& app, VerifyArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "verify", "Ask the service about every member of the sorted sets of a site's old store: none may be missing");
  add_job_flags(command, args, "items");
  add_server_flags(command, args.server, args.tls);
  add_keys_flags(command, args.keys);
  command.add_option("--sample", args.sample, "Share of the users, always the same ones (default: 1)")
      ->check(CLI::Range(0.000001, 1.0))
      ->type_name("FRACTION");
  command.add_option("--probes", args.probes, "Items that nobody has played, asked for each set (default: 10)")
      ->check(CLI::Range(0, 1'000))
      ->type_name("N");
  command
      .add_option("--settle-seconds", args.settle_seconds,
                  "Time until an unseen member is asked for again, twice (default: 5)")
      ->check(CLI::Range(0.0, 3'600.0))
      ->type_name("SECONDS");
  command.add_option("--differences", args.differences, "File to which each missing member is appended")
      ->type_name("FILE");
  command.callback([&args, &chosen] { chosen = [&args] { return verify_command(args); }; });
}

void declare_jobs_command(CLI::App& app, JobsArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("jobs", "List the jobs of an installation, change a rate, remove a record");
  const std::map<std::string, JobsAction> words = {
      {"list", JobsAction::kList}, {"rate", JobsAction::kRate}, {"remove", JobsAction::kRemove}};
  add_word(command, "what", args.action, words,
           "list: show all jobs; rate: change the rate of a job, while it runs, too; remove: remove the record of a "
           "job that does not run (default: list)");
  command.add_option("name", args.name, "Name of the job, for rate and remove")->type_name("NAME");
  command.add_option("rate", args.rate, "Units a second, for rate")->check(positive_rate())->type_name("N");
  add_config_flags(command, args.config);
  add_output_flag(command, args.output);
  command.callback([&args, &command, &chosen] {
    const bool named = command.count("name") > 0, rated = command.count("rate") > 0;
    if (args.action != JobsAction::kList && !named) throw CLI::RequiredError("name");
    if (args.action == JobsAction::kRate && !rated) throw CLI::RequiredError("rate");
    chosen = [&args] { return jobs_command(args); };
  });
}

}  // namespace

void add_job_flags(CLI::App& command, JobArgs& args, const std::string& units) {
  add_config_flags(command, args.config);
  command.add_option("--name", args.name, "Name of the job: a start with the name of an earlier one goes on with it")
      ->required()
      ->type_name("NAME");
  command.add_flag("--execute", args.execute, "Do it; without it, only show the plan");
  command
      .add_option_function<double>(
          "--rate", [&args](double rate) { args.rate = rate; },
          "Most " + units + " a second (default: that of `bloomring jobs rate`, else 5000)")
      ->check(positive_rate())
      ->type_name("N");
  CLI::Option* watch =
      command.add_option("--watch", args.watch,
                         "Admin ports of processes that must not be late: the job slows down when one is under "
                         "pressure (default: admin.listen)");
  watch->delimiter(',')->type_name("HOST:PORT");
  command.add_flag("--unwatched", args.unwatched, "Work at the full rate, whatever that does to the installation")
      ->excludes(watch);
  add_output_flag(command, args.output);
}

void declare_jobs(CLI::App& app, JobCommandArgs& args, Chosen& chosen) {
  declare_replay(app, args.replay, chosen);
  declare_migrate(app, args.migrate, chosen);
  declare_export(app, args.export_to, chosen);
  declare_verify(app, args.verify, chosen);
  declare_jobs_command(app, args.jobs, chosen);
}

}  // namespace bloomring::cli
