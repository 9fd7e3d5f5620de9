#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int query_command(const QueryArgs&) { return report(fatal("query is not built yet")); }

}  // namespace bloomring::cli
