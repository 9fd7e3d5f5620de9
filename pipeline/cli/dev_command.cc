#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int dev_command(const DevArgs&) { return report(fatal("dev is not built yet")); }

}  // namespace bloomring::cli
