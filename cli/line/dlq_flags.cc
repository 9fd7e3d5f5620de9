#include "cli/line/dlq_flags.h"

#include "cli/line/job_flags.h"

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
      "dlq", "Dead letters: list, show and put back. They hold user ids, which are personal data");
  const std::map<std::string, DlqAction> words = {
      {"list", DlqAction::kList}, {"replay", DlqAction::kReplay}, {"show", DlqAction::kShow}};
  add_word(command, "what", args.what, words,
           "list: count them by reason; show: single letters, decoded; replay: put them back into topics of plays")
      ->required();
  add_job_flags(command, args, "letters");
  command.get_option("--name")->required(false);
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
  CLI::Option* to = command.add_option(
      "--to", args.to, "For replay: another topic (default: each letter to the topic of plays that it came from)");
  to->type_name("NAME");
  CLI::Option* attempts = command.add_option(
      "--attempts", args.attempts, "For replay: how often a record is put back in all (default: 3)");
  attempts->check(CLI::Range(1, 1'000))->type_name("N");
  std::vector<OfAction> own = {
      {at, DlqAction::kShow, "show"}, {newest, DlqAction::kShow, "show"}, {raw, DlqAction::kShow, "show"}};
  for (CLI::Option* flag : {to, attempts}) own.push_back({flag, DlqAction::kReplay, "replay"});
  for (const char* name : {"--name", "--execute", "--rate", "--watch", "--unwatched"})
    own.push_back({command.get_option(name), DlqAction::kReplay, "replay"});
  command.callback([&args, &chosen, own] {
    refuse_elsewhere(own, args.what);
    if (args.what == DlqAction::kReplay && args.name.empty()) throw CLI::RequiredError("--name");
    chosen = [&args] { return dlq_command(args); };
  });
}

}  // namespace bloomring::cli
