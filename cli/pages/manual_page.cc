#include "cli/pages/manual_page.h"

#include <algorithm>

namespace bloomring::cli {
namespace {

constexpr std::string_view kEnd =
    ".SH ENVIRONMENT\n"
    "Each configuration key has a variable: BLOOMRING_RING_SLOT_SECONDS for ring.slot_seconds. A flag overrides the "
    "environment, the environment the file, and the file the defaults.\n"
    ".SH FILES\n"
    ".TP\n"
    ".I /etc/bloomring/bloomring.yaml\n"
    "The configuration of the service of the Debian package.\n"
    ".TP\n"
    ".I /var/lib/bloomring\n"
    "Its filter store and its state.\n";

// Text as roff prints it: hyphens that can be copied, and no line that is taken for a request.
std::string roff(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else {
      result += c;
    }
    line_begins = c == '\n';
  }
  return result;
}

std::string flags_of(const CommandSheet& sheet) {
  std::string text;
  for (const FlagSheet& flag : sheet.flags) {
    text += ".TP\n\\fB" + roff(flag.name) + "\\fR";
    if (!flag.value.empty()) text += " \\fI" + roff(flag.value) + "\\fR";
    text += "\n" + roff(flag.doc) + "\n";
  }
  return text;
}

std::string footer_of(const CommandSheet& sheet) {
  if (sheet.footer.empty()) return "";
  std::string lines = sheet.footer.substr(std::min(sheet.footer.find_first_not_of('\n'), sheet.footer.size()));
  return ".PP\n.nf\n" + roff(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
}

}  // namespace

std::string manual_page(std::string_view version, const std::vector<CommandSheet>& sheets) {
  std::string page = ".\\\" Made by `bloomring manual` from the declarations.\n.TH BLOOMRING 1 \"\" \"bloomring " +
                     std::string(version) + "\" \"User Commands\"\n.SH NAME\nbloomring \\- " +
                     roff(sheets.front().doc) +
                     "\n.SH SYNOPSIS\n.B bloomring\n.I COMMAND\n[\\fIFLAGS\\fR] [\\fIARGUMENTS\\fR]\n.SH OPTIONS\n" +
                     flags_of(sheets.front()) + ".SH COMMANDS\n";
  for (size_t i = 1; i < sheets.size(); ++i) {
    page += ".SS bloomring " + roff(sheets[i].name) + "\n" + roff(sheets[i].doc) + ".\n" + flags_of(sheets[i]) +
            footer_of(sheets[i]);
  }
  return page + std::string(kEnd);
}

}  // namespace bloomring::cli
