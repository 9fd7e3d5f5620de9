// The progress of long work, on standard error: one line that changes on a terminal, a line of the log for each step
// elsewhere, and where the log is JSON.
//
//   ProgressLine progress("exporting");
//   progress.show({{"files", 3}, {"files_known", 20}});
//   on a terminal:  exporting: 3 files, 20 files known
//   in the log:     2026-11-02T10:15:00.123Z info exporting files=3 files_known=20
//
// Threading: used by one thread.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/log.h"

namespace bloomring::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string_view doing);
  // `terminal` outlives the line; null: the log takes the steps.
  ProgressLine(std::string_view doing, std::ostream* terminal) : doing_(doing), terminal_(terminal) {}
  // Ends the line on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::initializer_list<LogField> counts);

 private:
  const std::string doing_;
  std::ostream* const terminal_;
  bool shown_ = false;
};

}  // namespace bloomring::cli
