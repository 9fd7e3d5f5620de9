// Hands out the sets of the old store one by one, and knows a position behind all of those that are done.
//
//   KeySource --> [step of keys] --> those of a pattern, of this share --> take --> work on them --> release
//                     |                                                                                  |
//                     +--- a step is done when everything that holds it is released, and so are the steps before it
//
// A step is held by each of its keys until the set was read, and by each thing that is made of it, such as a block on
// its way to the log (`hold`). So a position covers durable work only, and a kill repeats the sets of a few steps.
// Memory: the keys of kStepsMax steps.
// Errors: as KeySource.
// Threading: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "pipeline/jobs/migrate/key_source.h"
#include "schemas/legacy/legacy_layout.h"

namespace bloomring {

// A set of the old store, and its owner.
struct LegacySet {
  std::string key;
  UserKey user;
  uint64_t step = 0;
};

class KeyFeed {
 public:
  static constexpr size_t kStepsMax = 8;  // Not done.

  // True for the users that this job takes.
  using Choice = std::function<bool(uint64_t user_hash)>;
  // Told of a key that is refused.
  using Refused = std::function<void(const std::string& key, LegacyRefusal refusal)>;

  // Both outlive it.
  KeyFeed(KeySource& source, const LegacyLayout& layout, Choice choice, Refused refused);

  Status begin(const std::string& position);
  // Fetches keys where none are left to take, unless too many steps are not done.
  Status fill();
  bool empty() const { return sets_.empty(); }
  // Not empty. The caller holds the set's step by it.
  LegacySet take();

  void hold(uint64_t step) { ++at(step).holds; }
  void release(uint64_t step);
  // Every set was taken, and nothing holds a step.
  bool done() const { return ended_ && steps_.empty(); }
  std::string position() const { return position_; }

 private:
  static constexpr int kFetchesMax = 50;  // In one `fill`: of steps without a key that is wanted.
  struct Step {
    std::string behind;  // The position.
    uint64_t holds = 0;
  };
  Step& at(uint64_t step) { return steps_[step - first_step_]; }
  void add(std::vector<std::string> keys);
  void drop_done();

  KeySource& source_;
  const LegacyLayout& layout_;
  const Choice choice_;
  const Refused refused_;
  std::deque<LegacySet> sets_;
  std::deque<Step> steps_;
  uint64_t first_step_ = 0;  // The number of the first of steps_.
  bool ended_ = false;
  std::string position_;
};

}  // namespace bloomring
