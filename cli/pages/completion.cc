#include "cli/pages/completion.h"

namespace bloomring::cli {
namespace {

// Each character of `special` gets `mark` in front.
std::string escaped(const std::string& text, const std::string& special, char mark) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += mark;
    result += c;
  }
  return result;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> flag_names(const CommandSheet& sheet) {
  std::vector<std::string> names;
  for (const FlagSheet& flag : sheet.flags) {
    if (!flag.is_argument()) names.push_back(flag.name);
  }
  return names;
}

std::vector<std::string> argument_words(const CommandSheet& sheet) {
  for (const FlagSheet& flag : sheet.flags) {
    if (flag.is_argument()) return flag.words;
  }
  return {};
}

// The action of bash for the value of a flag.
std::string bash_value(const FlagSheet& flag) {
  if (flag.value == "FILE") return "_bloomring_paths -f \"$word\"";
  if (flag.value == "DIR") return "_bloomring_paths -d \"$word\"";
  if (!flag.words.empty()) return "_bloomring_words \"" + list_of(flag.words) + "\" \"$word\"";
  return ":";
}

std::string bash(const std::vector<CommandSheet>& sheets) {
  std::vector<std::string> first = flag_names(sheets.front());
  std::string values;
  std::string commands;
  for (size_t i = 1; i < sheets.size(); ++i) {
    const CommandSheet& sheet = sheets[i];
    first.push_back(sheet.name);
    for (const FlagSheet& flag : sheet.flags) {
      if (flag.is_argument() || flag.value.empty()) continue;
      values += "    \"" + sheet.name + " " + flag.name + "\") " + bash_value(flag) + "; return ;;\n";
    }
    commands += "    " + sheet.name + ") flags=\"" + list_of(flag_names(sheet)) + "\" words=\"" +
                list_of(argument_words(sheet)) + "\" ;;\n";
  }
  return "# Completion of bloomring for bash, made by `bloomring completion bash`.\n"
         "_bloomring_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"); }\n"
         "_bloomring_paths() { compopt -o filenames 2>/dev/null; "
         "mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\"); }\n"
         "_bloomring() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flags=\"\" words=\"\"\n"
         "  # bash cuts --output=json into three words.\n"
         "  if [[ $word == \"=\" ]]; then word=\"\"; "
         "elif [[ $before == \"=\" ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; "
         "fi\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then _bloomring_words \"" +
         list_of(first) +
         "\" \"$word\"; return; fi\n"
         "  case \"${COMP_WORDS[1]} $before\" in\n" +
         values +
         "  esac\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         commands +
         "  esac\n"
         "  if [[ $word == -* ]]; then words=\"\"; elif [[ -n $words ]]; then flags=\"\"; fi\n"
         "  _bloomring_words \"$flags $words\" \"$word\"\n"
         "}\n"
         "complete -F _bloomring bloomring\n";
}

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "\\'", '\\') + "'"; }

std::string fish_flag(const CommandSheet& sheet, const FlagSheet& flag) {
  std::string line = "complete -c bloomring -n '__bloomring_at " + sheet.name + "'";
  if (flag.is_argument()) return flag.words.empty() ? "" : line + " -a " + fish_quoted(list_of(flag.words)) + "\n";
  line += " -l " + flag.name.substr(2);
  if (flag.value == "FILE" || flag.value == "DIR") {
    line += " -r -F";
  } else if (!flag.value.empty()) {
    line += " -x" + (flag.words.empty() ? "" : " -a " + fish_quoted(list_of(flag.words)));
  }
  return line + " -d " + fish_quoted(flag.doc) + "\n";
}

std::string fish(const std::vector<CommandSheet>& sheets) {
  std::string text =
      "# Completion of bloomring for fish, made by `bloomring completion fish`.\n"
      "function __bloomring_at\n"
      "  set -l words (commandline -opc)\n"
      "  test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
      "end\n"
      "complete -c bloomring -f\n"
      "complete -c bloomring -n __fish_use_subcommand -l version -d 'Print the version and exit'\n";
  for (size_t i = 1; i < sheets.size(); ++i) {
    text += "complete -c bloomring -n __fish_use_subcommand -a " + sheets[i].name + " -d " +
            fish_quoted(sheets[i].doc) + "\n";
    for (const FlagSheet& flag : sheets[i].flags) text += fish_flag(sheets[i], flag);
  }
  return text;
}

// A text in a specification of zsh's _arguments, between single quotes.
std::string zsh_text(const std::string& text) {
  std::string quoted;
  for (const char c : escaped(text, "\\[]:", '\\')) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted;
}

std::string zsh_flag(const FlagSheet& flag) {
  std::string action = " ";
  if (flag.value == "FILE") action = "_files";
  if (flag.value == "DIR") action = "_files -/";
  if (!flag.words.empty()) action = "(" + list_of(flag.words) + ")";
  if (flag.is_argument()) return "'*:" + zsh_text(flag.name) + ":" + action + "'";
  if (flag.value.empty()) return "'*" + flag.name + "[" + zsh_text(flag.doc) + "]'";
  return "'*" + flag.name + "=[" + zsh_text(flag.doc) + "]:" + zsh_text(flag.value) + ":" + action + "'";
}

std::string zsh(const std::vector<CommandSheet>& sheets) {
  std::string commands;
  std::string flags;
  for (size_t i = 1; i < sheets.size(); ++i) {
    commands += "    '" + sheets[i].name + ":" + zsh_text(sheets[i].doc) + "'\n";
    flags += "    " + sheets[i].name + ") _arguments";
    for (const FlagSheet& flag : sheets[i].flags) flags += " \\\n      " + zsh_flag(flag);
    flags += " ;;\n";
  }
  return "#compdef bloomring\n"
         "# Completion of bloomring for zsh, made by `bloomring completion zsh`.\n"
         "_bloomring() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         commands +
         "    '--help:Print the help and exit'\n"
         "    '--version:Print the version and exit'\n"
         "  )\n"
         "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         flags +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] = _bloomring ]]; then _bloomring \"$@\"; else compdef _bloomring bloomring; fi\n";
}

}  // namespace

std::string completion_for(Shell shell, const std::vector<CommandSheet>& sheets) {
  switch (shell) {
    case Shell::kBash: return bash(sheets);
    case Shell::kFish: return fish(sheets);
    case Shell::kZsh: return zsh(sheets);
  }
  return "";
}

}  // namespace bloomring::cli
