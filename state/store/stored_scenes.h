// The scenes that a filter store knows, found by leaping from one to the next: a few seeks for each shard and scene,
// however many users there are. Threading: pure function.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "state/rocksdb/rocks.h"

namespace bloomring {

// Of filters and of what was forgotten; the empty one among them where users have no scene.
Result<std::set<std::string>> stored_scenes(rocksdb::DB& db);

}  // namespace bloomring
