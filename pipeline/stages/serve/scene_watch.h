// The scenes that a serve replica knows (serving/query/known_scenes.h), and its reads of those of the filter store.
//
// The store is read once partitions have started, and every ten minutes: a scene that the site declared until lately
// may still be merged, from partitions that this replica does not hold. A read that was under way when partitions
// started does not count, because they start at watermarks that it may not have seen: the store is read again.
// Threading: `expect` and `tend` belong to one thread; `known` is thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "serving/query/known_scenes.h"
#include "state/store/filter_reader.h"

namespace bloomring {

class SceneWatch {
 public:
  // `stage` is for the log. `clock` outlives the watch.
  SceneWatch(std::string stage, const SceneRules& rules, const Clock& clock);

  KnownScenes& known() { return known_; }
  const KnownScenes& known() const { return known_; }
  const SceneRules& rules() const { return rules_; }

  // Partitions start: the scenes of the store are not known until it was read again.
  void expect();
  // Takes a read that has ended, and begins the next one when it is due and a partition is `placed`. To be called about
  // once a second.
  void tend(const FilterReader& reader, bool placed);

 private:
  // A read that is under way.
  struct Read {
    std::mutex mutex;
    std::optional<Result<std::set<std::string>>> ended;  // Guarded by the mutex.
  };
  void begin(const FilterReader& reader);
  void take(const std::set<std::string>& stored);

  const std::string stage_;
  const SceneRules rules_;
  const Clock& clock_;
  KnownScenes known_;
  std::shared_ptr<Read> read_;  // Shared with the reader.
  bool overtaken_ = false;      // Partitions started after the read began.
  int64_t read_at_ns_ = INT64_MIN;
  std::set<std::string> others_told_;  // Stored scenes that the site does not declare, as last warned.
};

}  // namespace bloomring
