// Queries from a file, or from standard input, a line each (query_line.h). Empty lines are passed over.
// Memory: a line, at most kLineBytesMax; a longer one is refused.
// Errors: kInvalid for a file that cannot be opened, kFatal for one that cannot be read. A line that is no query is
// counted; the first of them is said in the log, with its number.
// Threading: one thread. `next` never waits, for a pipe neither.
#pragma once

#include <string>

#include "pipeline/shadow/query_source.h"

namespace bloomring {

class QueryFile final : public QuerySource {
 public:
  static constexpr size_t kLineBytesMax = 4 << 20;

  // "-" is standard input.
  static Result<QueryFile> open(const std::string& path);
  ~QueryFile() override;
  QueryFile(QueryFile&& other) noexcept;  // Before anything was read.
  QueryFile& operator=(QueryFile&&) = delete;

  Result<std::optional<FilterCall>> next() override;
  bool ended() const override { return file_ended_ && bytes_.empty(); }
  uint64_t refused() const override { return refused_; }

 private:
  QueryFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status read_some();
  // False: the line is not whole yet.
  bool take_line(std::string& line);
  void refuse(const std::string& reason);

  std::string path_;
  int descriptor_ = -1;
  std::string bytes_;     // Read, and not taken yet.
  size_t searched_ = 0;   // Of them: no end of a line in front of it.
  bool skipping_ = false;  // Inside a line that is too long.
  bool file_ended_ = false;
  uint64_t lines_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace bloomring
