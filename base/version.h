// Version and commit of this build, and the parts that it was built with. The version is that of the root CMake file
// ("0.1.0"). The commit is that of the file COMMIT, which `git archive` fills in, else the one that CMake found checked
// out when it configured the build, else "unknown"; -DBLOOMRING_COMMIT=... overrides it.
//
// version.cc alone knows all of this: another commit compiles one file.
#pragma once

#include <string_view>
#include <vector>

namespace bloomring {

std::string_view version();
std::string_view commit();

std::string_view compiler();    // "GNU 12.2.0"
std::string_view build_type();  // "Release"
bool has_fault_points();        // Never in what is shipped.

// A library of others, with the version that CMake found when it configured the build.
struct BuiltWith {
  std::string_view library;  // "librdkafka": its file is librdkafka.so.1 or so.
  std::string_view version;  // "2.0.2"; empty where its package tells none.
};
std::vector<BuiltWith> built_with();  // By name.

}  // namespace bloomring
