#include "cli/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace bloomring::cli {

namespace {

constexpr std::string_view kClearRest = "\x1b[K";  // Of the longer text that stood there.

std::ostream* terminal_of_errors() {
  return isatty(STDERR_FILENO) != 0 && log_format() == LogFormat::kText ? &std::cerr : nullptr;
}

}  // namespace

ProgressLine::ProgressLine(std::string_view doing) : ProgressLine(doing, terminal_of_errors()) {}

ProgressLine::~ProgressLine() {
  if (terminal_ != nullptr && shown_) *terminal_ << '\n' << std::flush;
}

void ProgressLine::show(std::initializer_list<LogField> counts) {
  shown_ = true;
  if (terminal_ == nullptr) return log_info(doing_, counts);
  std::string text = "\r" + doing_;
  const char* separator = ": ";
  for (const LogField& count : counts) {
    std::string name(count.name);
    std::ranges::replace(name, '_', ' ');
    text += separator + count.text + " " + name;
    separator = ", ";
  }
  *terminal_ << text << kClearRest << std::flush;
}

}  // namespace bloomring::cli
