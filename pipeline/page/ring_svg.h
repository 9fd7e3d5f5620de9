// The ring of slots as pictures (inline SVG) with a text of each: a large one that sums the partitions of the process
// up, and a small one for each partition.
//
// States are told apart by a letter, by the line inside the sector and by the colour. The small pictures use the
// shapes that the large one defines, so it stands before them on the page.
// Threading: pure functions.
#pragma once

#include <string>

#include "pipeline/page/ops_report.h"

namespace bloomring {

// The large ring; empty where no partition has a ring.
std::string large_ring(const OpsReport& report);
// A small ring with the partition in its middle. The shapes are those of a large ring with as many slots.
std::string small_ring(const PartitionStatus& partition);
// A sample of each state, with its letter and its name.
std::string ring_key();

}  // namespace bloomring
