#include "cli/dlq/selection_of.h"

namespace bloomring::cli {

Result<LetterSelection> selection_of(const DlqArgs& args, int64_t now_ms) {
  BLOOMRING_TRY(check_reasons(args.reasons));
  LetterSelection selection{.reasons = args.reasons, .topic = args.topic};
  if (args.partition >= 0) selection.partition = args.partition;
  if (!args.since.empty()) {
    BLOOMRING_TRY_ASSIGN(selection.since_ms, parse_when("--since", args.since, now_ms));
  }
  if (!args.until.empty()) {
    BLOOMRING_TRY_ASSIGN(selection.until_ms, parse_when("--until", args.until, now_ms));
  }
  if (selection.since_ms && selection.until_ms && *selection.since_ms >= *selection.until_ms)
    return invalid("--since " + args.since + " is not before --until " + args.until);
  return selection;
}

}  // namespace bloomring::cli
