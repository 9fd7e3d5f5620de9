#include "base/version.h"

namespace bloomring {

std::string_view version() { return BLOOMRING_VERSION; }
std::string_view commit() { return BLOOMRING_COMMIT; }

}  // namespace bloomring
