// A file in which a job writes down, for people, each thing that it found: refused members, items that are unseen.
//
//   {"key":"hist:17","member":"v1","score":"-inf","reason":"not_a_time"}
//
// JSON, a line each; bytes that are no UTF-8 are replaced by U+FFFD. Only its owner may read it, because it names users
// and items. A job that is started again appends; what it does again after a kill may be in the file twice.
// Errors: kInvalid when the file cannot be made; kFatal when it cannot be written.
// Threading: one thread.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bloomring {

class FoundFile {
 public:
  // An empty path: keeps nothing.
  static Result<FoundFile> open(const std::string& path);

  void add(const std::vector<std::pair<std::string, std::string>>& fields);
  // Everything added is in the file.
  Status flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace bloomring
