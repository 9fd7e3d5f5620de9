#include "base/version.h"

namespace bloomring {

std::string_view version() { return BLOOMRING_VERSION; }
std::string_view commit() { return BLOOMRING_COMMIT; }
std::string_view compiler() { return BLOOMRING_COMPILER; }
std::string_view build_type() { return BLOOMRING_BUILD_TYPE; }
bool has_fault_points() { return BLOOMRING_FAULT_POINTS != 0; }

std::vector<BuiltWith> built_with() {
  std::string_view rest = BLOOMRING_BUILT_WITH;  // "libhiredis=0.14.1,librdkafka=2.0.2,"
  std::vector<BuiltWith> rows;
  while (!rest.empty()) {
    const std::string_view row = rest.substr(0, rest.find(','));
    const size_t mark = row.find('=');
    rows.push_back({row.substr(0, mark), row.substr(mark + 1)});
    rest.remove_prefix(row.size() + 1);
  }
  return rows;
}

}  // namespace bloomring
