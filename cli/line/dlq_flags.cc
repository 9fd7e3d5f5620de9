#include "cli/line/dlq_flags.h"

namespace bloomring::cli {

namespace {

// A flag that only some of the actions take.
struct OfAction {
  CLI::Option* flag;
  DlqAction action;
  const char* word;
};

void refuse_elsewhere(const std::vector<OfAction>& flags, DlqAction chosen) {
  for (const OfAction& one : flags) {
    if (one.flag->count() == 0 || one.action == chosen) continue;
    throw CLI::RequiresError(one.flag->get_name(), std::string("dlq ") + one.word);
  }
}

}  // namespace

void declare_dlq(CLI::App& app, DlqArgs& args, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "dlq", "Dead letters: list them by reason, and show them decoded. They hold user ids, which are personal data");
  const std::map<std::string, DlqAction> words = {{"list", DlqAction::kList}, {"show", DlqAction::kShow}};
  add_word(command, "what", args.what, words, "list: count them by reason; show: single letters")->required();
  add_config_flags(command, args.config);
  CLI::Option* reason = command.add_option("--reason", args.reasons, "Letters of this reason; may be repeated");
  reason->type_name("REASON")->allow_extra_args(false);
  CLI::Option* since = command.add_option("--since", args.since,
                                          "Letters written from then on: 2026-11-02T10:15:00Z, or before now as 90s, "
                                          "30m, 12h, 7d");
  since->type_name("TIME");
  CLI::Option* until = command.add_option("--until", args.until, "Letters written before then");
  until->type_name("TIME");
  CLI::Option* topic = command.add_option("--topic", args.topic, "Letters of records that lie in this topic");
  topic->type_name("NAME");
  CLI::Option* partition =
      command.add_option("--partition", args.partition, "Letters of records that lie in this partition of their topic");
  partition->check(CLI::Range(0, 1'000'000))->type_name("N");
  CLI::Option* at = command.add_option("--at", args.at, "For show: one letter by its place in topics.dead, as 0:4711");
  at->type_name("PARTITION:OFFSET");
  CLI::Option* newest =
      command.add_option("--newest", args.newest, "For show: so many, the newest first (default: 10)");
  newest->check(CLI::Range(1, 100))->type_name("N");
  CLI::Option* raw = command.add_option("--raw", args.raw, "For show with --at: write the value's bytes to a new file");
  raw->type_name("FILE")->needs(at);
  for (CLI::Option* other : {reason, since, until, topic, partition, newest}) at->excludes(other);
  add_output_flag(command, args.output);
  const std::vector<OfAction> own = {
      {at, DlqAction::kShow, "show"}, {newest, DlqAction::kShow, "show"}, {raw, DlqAction::kShow, "show"}};
  command.callback([&args, &chosen, own] {
    refuse_elsewhere(own, args.what);
    chosen = [&args] { return dlq_command(args); };
  });
}

}  // namespace bloomring::cli
