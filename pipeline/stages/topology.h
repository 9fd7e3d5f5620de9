// The table of the product's stages. To add a stage: a file pair with a class that is a Stage, and a row here.
#pragma once

#include "pipeline/settings/topology.h"

namespace bloomring {

// Lives as long as the program.
Topology topology();

}  // namespace bloomring
