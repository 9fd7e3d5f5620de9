#include "cli/line/call_flags.h"

namespace bloomring::cli {

namespace {

void declare_query(CLI::App& app, QueryArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen] {
    if (!args.batch && args.user.empty()) throw CLI::RequiredError("--user");
    chosen = [&args] { return query_command(args); };
  });
}

void declare_served(CLI::App& app, ServedArgs& args, Chosen& chosen) {
  CLI::App& command =
      *app.add_subcommand("served", "Report items that were just shown to a user: they count as seen for a while");
  add_server_flags(command, args.server, args.tls);
  add_user_flag(command, args.user)->required();
  command.add_option("--scene", args.scene, "Scene (default: none)")->type_name("NAME");
  add_timeout_flag(command, args.deadline_ms, "Longest time to wait (default: 5000)");
  command.add_option("items", args.items,
                     "Items in the order in which they were shown; one a line from standard input when none are named");
  add_output_flag(command, args.output);
  command.callback([&args, &chosen] { chosen = [&args] { return served_command(args); }; });
}

void declare_snapshot(CLI::App& app, SnapshotArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen] {
    if (args.from.empty() && args.user.empty()) throw CLI::RequiredError("--user or --from");
    chosen = [&args] { return snapshot_command(args); };
  });
}

void declare_forget(CLI::App& app, ForgetArgs& args, Chosen& chosen) {
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
  command.callback([&args, &chosen] {
    if (args.items.empty() && !args.everything) throw CLI::RequiredError("an item or --everything");
    chosen = [&args] { return forget_command(args); };
  });
}

}  // namespace

void declare_calls(CLI::App& app, CallArgs& args, Chosen& chosen) {
  declare_query(app, args.query, chosen);
  declare_served(app, args.served, chosen);
  declare_snapshot(app, args.snapshot, chosen);
  declare_forget(app, args.forget, chosen);
}

}  // namespace bloomring::cli
