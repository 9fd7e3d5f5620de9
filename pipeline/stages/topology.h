// The table of the product's stages. To add a stage: a file pair with a class that is a Stage, and a row here.
#pragma once

#include "pipeline/settings/topology.h"
#include "pipeline/stages/view_row.h"

namespace bloomring {

// Lives as long as the program.
Topology topology();

// The row of a window stage that drains for these views: it writes their topics and watches the groups of their merge
// stages. `make` is that of the product's views.
StageRow window_row(ViewRows views);

}  // namespace bloomring
