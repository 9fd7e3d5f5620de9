#include "cli/line/plan_flags.h"

namespace bloomring::cli {

namespace {

constexpr double kGiB = 1 << 30, kGB = 1e9;

void add_site_flags(CLI::App& command, PlanInput& input, PlanArgs& args) {
  command.add_option("--users", input.users, "Users who play in a period (default: 50000000)")->type_name("N");
  command
      .add_option("--plays-per-day", input.plays_per_day,
                  "Plays of all users (default: by the quantiles of --plays-per-user, else 10,000 of each user in 90 "
                  "days)")
      ->type_name("N");
  command
      .add_option("--plays-per-user", args.plays_per_user,
                  "Their distribution: the sigma of a log-normal one, or quantiles of plays a month, as "
                  "50=1200,90=6000,99=30000,100=200000 (default: 0.82)")
      ->type_name("SHAPE");
  command.add_option("--id-bytes", input.id_bytes, "Bytes of a user id (default: 10)")->type_name("BYTES");
  command.add_option("--peak", input.peak, "Plays in the fullest hour of a day, of a mean hour (default: 1.65)")
      ->type_name("FACTOR");
  command.add_option("--repeats", input.repeats, "Share of plays that repeat an item (default: 0.05)")
      ->type_name("FRACTION");
  command.add_option("--plays-per-session", input.plays_per_session, "Plays of a session (default: 20)")
      ->type_name("N");
  command.add_option("--plays-per-call", input.plays_per_call, "Plays for one call of Filter (default: 8)")
      ->type_name("N");
  command.add_option("--candidates", input.candidates, "Candidates of a call (default: 5000)")->type_name("N");
  command.add_option("--serves-per-play", input.serves_per_play, "Items recorded as served, for each play (default: 1)")
      ->type_name("N");
}

void add_installation_flags(CLI::App& command, PlanArgs& args) {
  const std::map<std::string, bool> words = {{"embedded", false}, {"redis", true}};
  const auto check = [words](std::string& word) {
    return words.contains(word) ? std::string() : word + " must be one of " + joined(words_of(words)) +
                                                      hint_for(word, words_of(words));
  };
  command
      .add_option_function<std::string>(
          "--store", [&args](const std::string& word) { args.on_servers = word == "redis"; },
          "The filter store: in a folder of one machine, or on servers (default: store.kind)")
      ->check(CLI::Validator(check, ""))
      ->type_name("embedded|redis");
  command
      .add_option_function<std::string>(
          "--partitions",
          [&args](const std::string& partitions) {
            args.config.overrides.push_back({"topics.partitions", partitions, "--partitions"});
          },
          "Partitions of user-events; divides 5000 (default: topics.partitions)")
      ->type_name("N");
  command
      .add_option_function<uint32_t>(
          "--replicas", [&args](uint32_t replicas) { args.replicas = replicas; },
          "Serve processes that hold the same partition (default: serve.replication_factor)")
      ->type_name("N");
  command
      .add_option_function<uint32_t>(
          "--months", [&args](uint32_t months) { args.months = months; },
          "Months for which a filter is kept after its own (default: filter.retention_periods)")
      ->type_name("N");
  command.add_option("--server-copies", args.input.server_copies, "Copies of a value on servers (default: 2)")
      ->check(CLI::Range(1, 10))
      ->type_name("N");
}

void add_machine_flags(CLI::App& command, PlanInput& input) {
  command.add_option("--machine-cores", input.machine.cores, "Cores of a machine (default: 16)")->type_name("N");
  command
      .add_option_function<uint32_t>(
          "--machine-memory", [&input](uint32_t gib) { input.machine.memory_bytes = gib * kGiB; },
          "Memory of a machine in GiB (default: 128)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("GIB");
  command
      .add_option_function<uint32_t>(
          "--machine-disk", [&input](uint32_t gb) { input.machine.disk_bytes = gb * kGB; },
          "Disk of a machine in GB, 1e9 bytes (default: 4000)")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("GB");
  command.add_option("--core-share", input.core_share, "Share of the cores in use at the peak (default: 0.6)")
      ->type_name("FRACTION");
  command.add_option("--spare-machines", input.spare_machines, "Machines that may be lost (default: 1)")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
}

}  // namespace

void declare_plan(CLI::App& app, PlanArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Plan capacity: processes, CPU, memory, bytes and machines for a number of users, each with its origin");
  add_config_flags(command, args.config);
  add_site_flags(command, args.input, args);
  add_installation_flags(command, args);
  add_machine_flags(command, args.input);
  add_output_flag(command, args.output);
  command.callback([&args, &chosen] { chosen = [&args] { return plan_command(args); }; });
}

}  // namespace bloomring::cli
