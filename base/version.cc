#include "base/version.h"

namespace bloomring {

std::string_view version() { return BLOOMRING_VERSION; }

}  // namespace bloomring
