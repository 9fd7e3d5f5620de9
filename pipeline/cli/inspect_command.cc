#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int inspect_command(const InspectArgs&) { return report(fatal("inspect is not built yet")); }

}  // namespace bloomring::cli
