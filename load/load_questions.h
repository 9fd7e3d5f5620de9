// The questions of a load test: each user as often as the user plays, with thousands of candidates, some of them
// played.
//
// The number of candidates and the fraction that the user has played are uniform between two bounds. For a user with
// too few played items the question has all of them. The other candidates are ids that no user has ever played.
// Threading: one thread.
#pragma once

#include "load/load_driver.h"
#include "load/played_items.h"

namespace bloomring {

struct LoadQuestionsConfig {
  uint64_t seed = 1;
  uint32_t candidates_min = 2'000;
  uint32_t candidates_max = 10'000;  // At least candidates_min.
  double seen_min = 0.05;            // Fraction of the candidates: [0, 1].
  double seen_max = 0.30;            // At least seen_min.
};

class LoadQuestions final : public LoadSource {
 public:
  // `played` has at least one play and outlives this.
  LoadQuestions(const PlayedItems& played, const LoadQuestionsConfig& config);
  void next(LoadQuestion& question) override;

 private:
  void write_never_played(std::string& id);

  const PlayedItems& played_;
  const LoadQuestionsConfig config_;
  LoadRandom random_;
  std::string id_;  // Kept for its memory.
};

}  // namespace bloomring
