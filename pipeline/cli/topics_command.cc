#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int topics_command(const TopicsArgs&) { return report(fatal("topics is not built yet")); }

}  // namespace bloomring::cli
