// Lowers RLIMIT_NOFILE of the test program, and restores it at the end.
#pragma once

#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace bloomring {

class OpenFilesBound {
 public:
  explicit OpenFilesBound(rlim_t files) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit bound{files, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &bound) == 0);
  }
  OpenFilesBound(const OpenFilesBound&) = delete;
  ~OpenFilesBound() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace bloomring
