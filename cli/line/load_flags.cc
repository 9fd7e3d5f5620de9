#include "cli/line/load_flags.h"

namespace bloomring::cli {

namespace {

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

void declare_generate(CLI::App& app, GenerateArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "generate",
      "Generate plays like a site's: JSON lines on standard output, records of the topic that --topic names, or sorted "
      "sets of an old store");
  add_config_flags(command, args.config);
  const auto to_bootstrap = [&args](const std::string& bootstrap) {
    args.config.overrides.push_back({"kafka.bootstrap", bootstrap, "--bootstrap"});
  };
  CLI::Option* topic = command.add_option("--topic", args.topic, "Topic to write to, with --execute");
  topic->type_name("NAME");
  command.add_option_function<std::string>("--bootstrap", to_bootstrap, "Brokers of the topic")
      ->needs(topic)
      ->type_name("HOST:PORT");
  CLI::Option* to = command.add_option_function<std::string>(
      "--to", [&args](const std::string&) { args.to_redis = true; },
      "redis: write sorted sets to the servers of migrate.addresses, by migrate.keys and migrate.score_unit, with "
      "--execute");
  to->check(CLI::IsMember({"redis"}))->excludes(topic)->type_name("redis");
  command.add_option("--keep", args.keep, "Members to which each set is cut; 0: no cut (default: 10000)")
      ->needs(to)
      ->type_name("N");
  command.add_flag("--execute", args.execute, "Write to the topic or the servers; without it, only show the plan");
  add_model_flags(command, args.model);
  command.add_option("--rate", args.rate, "Plays a second (default: 0, as fast as possible)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.callback([&args, &chosen] {
    if (args.execute && args.topic.empty() && !args.to_redis)
      throw CLI::RequiredError("--topic or --to, which --execute writes to,");
    chosen = [&args] { return generate_command(args); };
  });
}

void declare_load(CLI::App& app, LoadArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen] { chosen = [&args] { return load_command(args); }; });
}

}  // namespace

void declare_loads(CLI::App& app, LoadCommandArgs& args, Chosen& chosen) {
  declare_generate(app, args.generate, chosen);
  declare_load(app, args.load, chosen);
}

}  // namespace bloomring::cli
