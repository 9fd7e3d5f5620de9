#include "load/load_questions.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bloomring {

LoadQuestions::LoadQuestions(const PlayedItems& played, const LoadQuestionsConfig& config)
    : played_(played), config_(config), random_(config.seed) {
  BLOOMRING_CHECK(played.plays() > 0, "questions are about users who played");
}

// As long as the ids of a site with a billion items. No generated id begins like this.
void LoadQuestions::write_never_played(std::string& id) {
  char digits[20];
  const uint64_t number = 1'000'000'000 + random_.bits() % 9'000'000'000;
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  id.assign("n");
  id.append(digits, end);
}

void LoadQuestions::next(LoadQuestion& question) {
  question.clear();
  const uint32_t user = played_.user_of_play(random_.bits() % played_.plays());
  played_.user_id(user, question.user);
  const uint64_t candidates =
      config_.candidates_min + random_.bits() % (config_.candidates_max - config_.candidates_min + 1);
  const double part = config_.seen_min + random_.unit() * (config_.seen_max - config_.seen_min);
  const auto wanted = static_cast<uint64_t>(std::llround(part * static_cast<double>(candidates)));
  uint64_t played_left = std::min<uint64_t>(wanted, played_.items_of(user));
  uint64_t item = random_.bits() % played_.items_of(user);
  // Each remaining candidate has the same chance to be a played one.
  for (uint64_t left = candidates; left > 0; --left) {
    const bool is_played = random_.bits() % left < played_left;
    if (is_played) {
      played_.item_id(user, static_cast<uint32_t>(item++ % played_.items_of(user)), id_);
      --played_left;
    } else {
      write_never_played(id_);
    }
    question.add(id_, is_played);
  }
}

}  // namespace bloomring
