// A folder of a test's own, gone when the test is over.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace bloomring::testing {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "bloomring-test-XXXXXX").string();
    BLOOMRING_CHECK(::mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bloomring::testing
