#include "cli/line/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/line/call_flags.h"
#include "cli/line/dlq_flags.h"
#include "cli/line/flags.h"
#include "cli/line/help.h"
#include "cli/line/installation_flags.h"
#include "cli/line/job_flags.h"
#include "cli/line/load_flags.h"
#include "cli/line/plan_flags.h"
#include "cli/line/shadow_flags.h"
#include "cli/output.h"
#include "cli/pages/command_page.h"
#include "cli/pages/completion.h"
#include "cli/pages/manual_page.h"

namespace bloomring::cli {
namespace {

// The parsed arguments of all commands, and the chosen command.
struct CommandLine {
  RunArgs run;
  DevArgs dev;
  CallArgs call;
  LoadCommandArgs load;
  InstallationArgs installation;
  PlanArgs plan;
  DlqArgs dlq;
  JobCommandArgs jobs;
  ShadowArgs shadow;
  ReferenceArgs reference;
  VersionArgs version;
  Shell shell = Shell::kBash;
  std::string stages;
  Chosen chosen;
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

void declare_reference(CLI::App& app, CommandLine& line) {
  CLI::App& command = *app.add_subcommand("reference", "Print a reference page, made from the declarations");
  const std::map<std::string, ReferencePage> words = {{"commands", ReferencePage::kCommands},
                                                      {"config", ReferencePage::kConfig},
                                                      {"metrics", ReferencePage::kMetrics},
                                                      {"topics", ReferencePage::kTopics}};
  add_word(command, "what", line.reference.what, words, "Page to print")->required();
  // The page of commands is made of all of them, so it reads `app` when that is complete.
  line.reference.commands = [&app] { return command_page(read_sheets(app)); };
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
  declare_calls(app, line.call, line.chosen);
  declare_loads(app, line.load, line.chosen);
  declare_installation(app, line.installation, line.chosen);
  declare_plan(app, line.plan, line.chosen);
  declare_dlq(app, line.dlq, line.chosen);
  declare_jobs(app, line.jobs, line.chosen);
  declare_shadow(app, line.shadow, line.chosen);
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
