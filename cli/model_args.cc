#include "cli/model_args.h"

#include <absl/time/time.h>

#include <charconv>

#include "schemas/event.h"

namespace bloomring::cli {

namespace {

// Unix milliseconds of RFC 3339 text or a number of milliseconds.
Result<int64_t> parse_time(const std::string& text) {
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error == std::errc() && end == text.data() + text.size()) return ms;
  absl::Time time;
  std::string why;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &why)) return absl::ToUnixMillis(time);
  return invalid("--start " + text + ": neither Unix milliseconds nor an RFC 3339 time: " + why);
}

}  // namespace

Result<LoadConfig> load_of(const ModelArgs& args, const Clock& clock) {
  LoadConfig load{.seed = args.seed,
                  .users = args.users,
                  .plays = args.plays,
                  .items = args.items,
                  .hours = args.hours,
                  .repeats = args.repeats};
  load.start_ms = clock.now_ms() - int64_t{load.hours} * 3'600'000;
  if (!args.start.empty()) {
    BLOOMRING_TRY_ASSIGN(load.start_ms, parse_time(args.start));
  }
  if (load.start_ms < kEventTimeMinMs) return invalid("--start " + args.start + ": plays before 2000 are refused");
  return load;
}

}  // namespace bloomring::cli
