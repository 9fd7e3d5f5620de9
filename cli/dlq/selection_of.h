// The selection of dead letters that flags of `bloomring dlq` name.
#pragma once

#include "base/result.h"
#include "cli/dlq/dlq_commands.h"
#include "pipeline/letters/letter_selection.h"

namespace bloomring::cli {

// kInvalid for an unknown reason, a wrong time, or a --since that is not before --until.
Result<LetterSelection> selection_of(const DlqArgs& args, int64_t now_ms);

}  // namespace bloomring::cli
