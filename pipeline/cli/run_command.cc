#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int run_command(const RunArgs&) { return report(fatal("run is not built yet")); }

}  // namespace bloomring::cli
