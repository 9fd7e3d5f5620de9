#include "cli/pages/command_sheet.h"

#include <CLI/CLI.hpp>

namespace bloomring::cli {
namespace {

std::vector<std::string> words_in(const std::string& value) {
  std::vector<std::string> words;
  if (value.find('|') == std::string::npos) return words;
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find('|', at), value.size());
    words.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

CommandSheet sheet_of(const CLI::App& app) {
  CommandSheet sheet{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) {
    const bool argument = option->get_positional();
    if (!argument && option->get_lnames().empty()) continue;
    FlagSheet flag;
    flag.name = argument ? option->get_name(true) : "--" + option->get_lnames().front();
    if (option->get_expected_max() > 0) flag.value = option->get_type_name();
    flag.words = words_in(flag.value);
    flag.doc = option->get_description();
    flag.required = option->get_required();
    sheet.flags.push_back(flag);
  }
  return sheet;
}

}  // namespace

std::vector<CommandSheet> read_sheets(const CLI::App& app) {
  std::vector<CommandSheet> sheets = {sheet_of(app)};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    sheets.push_back(sheet_of(*command));
  return sheets;
}

}  // namespace bloomring::cli
