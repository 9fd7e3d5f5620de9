// The scenes of a filter store, found by seeks from one scene to the next: a few for each shard and scene, for any
// number of users.
// Threading: pure function.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "state/rocksdb/rocks.h"

namespace bloomring {

// The scenes of filters and of forgotten values; with the empty one where users have no scene.
Result<std::set<std::string>> stored_scenes(rocksdb::DB& db);

}  // namespace bloomring
