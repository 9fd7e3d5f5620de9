#include "base/config/finding.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

namespace bloomring {

namespace {

bool is_key(std::string_view word) {
  const auto legal = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) || c == '_' ||
           c == '.';
  };
  const size_t dot = word.find('.');
  const bool parted = dot != std::string_view::npos && dot > 0 && dot + 1 < word.size() && word.back() != '.';
  return parted && std::islower(static_cast<unsigned char>(word.front())) != 0 &&
         std::all_of(word.begin(), word.end(), legal);
}

// True for a variable of the environment, a flag, or a file with a line (FILE:LINE).
bool is_place(std::string_view text) {
  if (text.starts_with("BLOOMRING_") || text.starts_with("--")) return true;
  const size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos &&
         text.find(' ') == std::string_view::npos;
}

std::string key_in(const std::string& reason) {
  constexpr std::string_view kTopic = "topic ";
  if (reason.starts_with(kTopic)) return reason.substr(0, reason.find_first_of(": ", kTopic.size()));
  std::istringstream words(reason);
  for (std::string word; words >> word;) {
    while (!word.empty() && (word.back() == ':' || word.back() == ',')) word.pop_back();
    if (is_key(word)) return word;
  }
  constexpr std::string_view kUnknown = "unknown key ";
  return reason.starts_with(kUnknown) ? reason.substr(kUnknown.size()) : "";
}

// The text after the key and its verb, up to an explanation. For a topic, a setting is between key and verb.
std::string value_in(const std::string& reason, const std::string& key) {
  constexpr std::array<std::string_view, 3> kVerbs = {" is ", " has ", " holds "};
  size_t behind_key = reason.find(key) + key.size();
  if (reason.compare(behind_key, 2, ": ") == 0) behind_key += 2;
  const size_t clause_end = reason.find(": ", behind_key);
  for (const std::string_view verb : kVerbs) {
    const size_t at = reason.find(verb, behind_key);
    if (key.empty() || at == std::string::npos || at > clause_end) continue;
    const size_t begin = at + verb.size();
    const size_t end = std::min({reason.find(": ", begin), reason.find(", ", begin), reason.size()});
    return reason.substr(begin, end - begin);
  }
  return "";
}

}  // namespace

SetupFinding finding_of(std::string_view line) {
  SetupFinding finding;
  finding.text = line;
  const size_t colon = line.find(": ");
  if (colon != std::string_view::npos && is_place(line.substr(0, colon))) {
    finding.place = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  const size_t cut = line.find("; ");
  finding.reason = line.substr(0, cut);
  finding.key = key_in(finding.reason);
  finding.value = value_in(finding.reason, finding.key);
  if (cut != std::string_view::npos) finding.way_out = line.substr(cut + 2);
  if (finding.way_out.empty()) {
    finding.way_out = "correct " + (finding.key.empty() ? "what is named" : finding.key) +
                      (finding.place.empty() ? "" : " in " + finding.place);
  }
  return finding;
}

std::vector<SetupFinding> findings_of(const Status& status) {
  std::vector<SetupFinding> findings;
  std::istringstream lines(status.message());
  for (std::string line; std::getline(lines, line);) findings.push_back(finding_of(line));
  return findings;
}

}  // namespace bloomring
