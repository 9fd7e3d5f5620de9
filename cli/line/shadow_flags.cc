#include "cli/line/shadow_flags.h"

#include <map>
#include <string>

namespace bloomring::cli {

void declare_shadow(CLI::App& app, ShadowArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "shadow", "Ask a site's queries of its old store and of the service, and compare answers and latencies");
  add_config_flags(command, args.config);
  CLI::Option* queries = command.add_option(
      "--queries", args.queries,
      R"(File of queries, {"user":..,"scene":..,"candidates":[..]} a line; - is standard input)");
  queries->type_name("FILE");
  CLI::Option* listen = command.add_option(
      "--listen", args.listen,
      "Take copies of live calls instead: an endpoint that speaks Filter and FilterBatch, answers at once, and drops "
      "what it cannot keep up with");
  listen->excludes(queries)->type_name("HOST:PORT");
  add_server_flags(command, args.server, args.tls);
  const std::map<std::string, OldKind> kinds = {{"filters", OldKind::kFilters}, {"sets", OldKind::kSets}};
  add_word(command, "--old", args.old_kind, kinds,
           "Data that the old store answers from: the sorted sets of migrate.keys, or the RedisBloom filters of "
           "migrate.filter_keys (default: sets)");
  command
      .add_option("--old-error", args.old_error_rate,
                  "Error rate of the old filters: more items that only they have are a difference (default: 0.01)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("FRACTION");
  command
      .add_option("--cut", args.cut_members,
                  "Members at which the site cuts its sets: what a full set lacks is explained (default: 0, never)")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N");
  command.add_option("--rate", args.rate, "Most queries a second (default: 100)")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("N");
  command.add_option("--seconds", args.seconds, "End after this time (default: at the end of the file, or never)")
      ->check(CLI::Range(0.0, 1e8))
      ->type_name("SECONDS");
  command
      .add_option("--settle-seconds", args.settle_seconds,
                  "Time until a difference that may be a write on its way is asked for again, twice (default: 5)")
      ->check(CLI::Range(0.0, 3'600.0))
      ->type_name("SECONDS");
  add_timeout_flag(command, args.timeout_ms, "Longest wait for an answer of the service (default: 1000)");
  command.add_option("--differences", args.differences, "File to which each unexplained difference is appended")
      ->type_name("FILE");
  command.add_option("--admin", args.admin, "Address for /metrics, /healthz and /readyz (default: none)")
      ->type_name("HOST:PORT");
  add_output_flag(command, args.output);
  command.callback([&args, &command, &chosen] {
    if (command.count("--queries") + command.count("--listen") == 0)
      throw CLI::RequiredError("--queries FILE or --listen HOST:PORT");
    chosen = [&args] { return shadow_command(args); };
  });
}

}  // namespace bloomring::cli
