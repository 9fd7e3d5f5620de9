// Flags that several commands have, with their checks and messages.
// Threading: as CLI11: one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/words.h"
#include "cli/commands.h"

namespace bloomring::cli {

// Runs the command that was typed, and returns its exit code.
using Chosen = std::function<int()>;

void add_config_flags(CLI::App& command, ConfigArgs& args);

// "json, text": the words of a closed list, for messages.
template <typename E>
std::vector<std::string> words_of(const std::map<std::string, E>& meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  return words;
}

// "; did you mean NAME?", or nothing where no known word is near.
std::string hint_for(const std::string& word, const std::vector<std::string>& known);

// A flag or argument that takes one word of a closed list. (CLI11's own transformers print the enum's bytes.)
template <typename E>
CLI::Option* add_word(CLI::App& command, const std::string& name, E& target, const std::map<std::string, E>& meanings,
                      const std::string& doc) {
  const std::vector<std::string> words = words_of(meanings);
  const auto check = [words](std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return word + " must be one of " + joined(words) + hint_for(word, words);
  };
  return command
      .add_option_function<std::string>(
          name, [&target, meanings](const std::string& word) { target = meanings.at(word); }, doc)
      ->check(CLI::Validator(check, ""))
      ->type_name(joined(words, "|"));
}

// --user: an id of 1 to 128 bytes.
CLI::Option* add_user_flag(CLI::App& command, std::string& user, const std::string& doc = "User id");
void add_output_flag(CLI::App& command, OutputFormat& output);
// --server and the files of TLS.
void add_server_flags(CLI::App& command, std::string& server, TlsClientFiles& tls,
                      const std::string& doc = "Address of the service (default: 127.0.0.1:7700)");
CLI::Option* add_admin_flag(CLI::App& command, std::string& admin, const std::string& whose = "");
void add_timeout_flag(CLI::App& command, int64_t& timeout_ms, const std::string& doc);

}  // namespace bloomring::cli
