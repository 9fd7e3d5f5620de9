#include "state/store/embedded/stored_scenes.h"

#include <memory>
#include <string_view>

#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr size_t kShardEnd = 3;  // The tag and the shard; the scene with its length follows.

// The first key after all that begin with `prefix`; empty when there is none.
std::string behind(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

Status leap(rocksdb::Iterator& row, char tag, std::set<std::string>& scenes) {
  std::string at(1, tag);
  for (row.Seek(at); row.Valid() && row.key()[0] == tag; row.Seek(at)) {
    const std::string_view key(row.key().data(), row.key().size());
    if (key.size() <= kShardEnd) return corrupt("a store key is too short: " + describe_store_key(key));
    const size_t scene_bytes = static_cast<unsigned char>(key[kShardEnd]);
    if (key.size() < kShardEnd + 1 + scene_bytes) return corrupt("no store key: " + describe_store_key(key));
    scenes.emplace(key.substr(kShardEnd + 1, scene_bytes));
    at = behind(std::string(key.substr(0, kShardEnd + 1 + scene_bytes)));
    if (at.empty()) break;
  }
  return status_of(row.status(), "the scenes of the filter store");
}

}  // namespace

Result<std::set<std::string>> stored_scenes(rocksdb::DB& db) {
  const std::unique_ptr<rocksdb::Iterator> row(db.NewIterator(rocksdb::ReadOptions()));
  std::set<std::string> scenes;
  BLOOMRING_TRY(leap(*row, kFilterKeyTag, scenes));
  BLOOMRING_TRY(leap(*row, kForgottenKeyTag, scenes));
  return scenes;
}

}  // namespace bloomring
