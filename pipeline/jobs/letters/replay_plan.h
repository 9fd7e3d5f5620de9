// The plan of a replay of dead letters: every selected letter is judged as the replay would judge it. Of letters that
// were cut it asks whether their topic still has the original, which the replay alone reads.
// Threading, Errors: as Job::plan.
#pragma once

#include <optional>
#include <string>

#include "pipeline/jobs/job.h"
#include "pipeline/jobs/letters/letter_world.h"
#include "pipeline/letters/letter_judge.h"
#include "pipeline/letters/letter_selection.h"
#include "pipeline/letters/superseded_letters.h"

namespace bloomring {

// Reads the whole topic for the letters for which later ones stand.
Result<SupersededLetters> find_superseded(LetterWorld& world, std::optional<int64_t> since_ms);

// `total` of the plan is the number of records in the topic, which the replay reads. It has a fact for each reason of a
// refusal.
Result<JobPlan> plan_replay(const std::string& dead_topic, const LetterSelection& selection, LetterJudge& judge,
                            LetterWorld& world, int64_t now_ms);

}  // namespace bloomring
