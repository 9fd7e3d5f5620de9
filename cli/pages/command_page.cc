#include "cli/pages/command_page.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bloomring::cli {
namespace {

constexpr std::string_view kHead =
    "# Commands\n\n"
    "Made by `bloomring reference commands` from the declarations; do not edit.\n\n"
    "Every command has `--help`, which prints its part of this page. Results go to standard output, everything else to "
    "standard error.\n\n"
    "## Exit codes\n\n"
    "Each command lists its own codes below.\n\n"
    "| code | means |\n"
    "|---|---|\n"
    "| 0 | done |\n"
    "| 1 | failed: something outside did, such as a broker, a store or a disk. The same command may succeed later |\n"
    "| 2 | the command line, the configuration or the set-up is wrong: the same command fails again |\n"
    "| 3 | done, and it found what must not be |\n"
    "| 128 + N | signal N ended the process; shells show it so |\n\n";

std::string code(const std::string& text) { return "`" + text + "`"; }

// Text of a cell of a table.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

// CLI11 puts the bounds of a number behind its name: "N:INT in [1 - 1000]".
std::string bounded(const std::string& value) {
  constexpr std::pair<std::string_view, std::string_view> kBounds[] = {
      {":INT in [", ", an integer in ["}, {":FLOAT in [", ", a number in ["}, {":NONNEGATIVE", ", a number from 0 on"}};
  for (const auto& [mark, words] : kBounds) {
    const size_t at = value.find(mark);
    if (at == std::string::npos) continue;
    std::string range = value.substr(at + mark.size());
    if (const size_t dash = range.find(" - "); dash != std::string::npos) range.replace(dash, 3, ", ");
    return code(value.substr(0, at)) + std::string(words) + range;
  }
  return code(value);
}

std::string value_of(const FlagSheet& flag) {
  if (flag.words.empty()) return flag.value.empty() ? "" : bounded(flag.value);
  std::string list;
  for (const std::string& word : flag.words) list += (list.empty() ? "" : ", ") + code(word);
  return list;
}

// The indented lines below a title of the footer, without their indentation.
std::vector<std::string> lines_below(std::string_view footer, std::string_view title) {
  std::vector<std::string> lines;
  size_t at = footer.find(title);
  if (at == std::string_view::npos) return lines;
  at += title.size();
  while (at < footer.size() && footer.substr(at, 2) == "  ") {
    const size_t end = std::min(footer.find('\n', at), footer.size());
    lines.emplace_back(footer.substr(at + 2, end - at - 2));
    at = end + 1;
  }
  return lines;
}

std::string flags_of(const CommandSheet& sheet) {
  std::string rows;
  for (const FlagSheet& flag : sheet.flags) {
    if (flag.name == "--help") continue;
    rows += "| " + code(flag.name) + (flag.required ? " (required)" : "") + " | " + value_of(flag) + " | " +
            cell(flag.doc) + " |\n";
  }
  return rows.empty() ? "" : "| flag or argument | value | what it does |\n|---|---|---|\n" + rows + "\n";
}

std::string examples_of(const CommandSheet& sheet) {
  const std::vector<std::string> examples = lines_below(sheet.footer, "Examples:\n");
  std::string text = "```text\n";
  for (const std::string& line : examples) text += line + "\n";
  return examples.empty() ? "" : text + "```\n\n";
}

std::string exit_codes_of(const CommandSheet& sheet) {
  const std::vector<std::string> codes = lines_below(sheet.footer, "Exit codes:\n");
  std::string rows = "| exit code | means |\n|---|---|\n";
  for (const std::string& line : codes) {
    const size_t space = std::min(line.find("  "), line.size());
    const size_t meaning = std::min(line.find_first_not_of(' ', space), line.size());
    rows += "| " + line.substr(0, space) + " | " + cell(line.substr(meaning)) + " |\n";
  }
  return codes.empty() ? "" : rows + "\n";
}

}  // namespace

std::string command_page(const std::vector<CommandSheet>& sheets) {
  std::string list = "## The commands\n\n| command | what it does |\n|---|---|\n";
  std::string parts;
  for (size_t i = 1; i < sheets.size(); ++i) {
    const CommandSheet& sheet = sheets[i];
    const std::string name = "bloomring " + sheet.name;
    list += "| [" + name + "](#bloomring-" + sheet.name + ") | " + cell(sheet.doc) + " |\n";
    parts += "\n## " + name + "\n\n" + sheet.doc + ".\n\n" + flags_of(sheet) + examples_of(sheet);
    parts += exit_codes_of(sheet);
    parts.pop_back();  // Each part ends with one line end; the next one brings the empty line.
  }
  return std::string(kHead) + list + parts;
}

}  // namespace bloomring::cli
