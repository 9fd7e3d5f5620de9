// Parses the JSON of a play, serve or forget, as producers write it, or refuses it.
//
// The configuration maps fields and kinds and says which views count as plays, so a site's own events need no
// converter. A field is a name or a path with dots (schemas/json/json_fields.h); an empty one is a field that the site
// does not have. Unknown fields are ignored; a record with a repeated field of the configuration is refused, unless it
// is of an ignored kind.
//   user, item  required; strings or integers (an integer is its decimal string)
//   time        required; a number in the configured unit or an RFC 3339 string. A number in seconds and a string
//               are times in whole seconds where they have no fraction
//   event       "play" (also when absent), "serve", "forget" (one item), "forget_all" (everything of the user in the
//               scene; an item is not read), or one of the site's own names for these
// Where a site has its own names, a record without `event` is of the kind of the site's name "", and refused where
// there is no such name. A record of an ignored kind is skipped, whatever else is in it; so is a play of which too
// little was watched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"
#include "schemas/json/time_unit.h"
#include "schemas/refusal.h"

namespace bloomring {

// An event time that is further ahead comes from a wrong unit or field, not from a wrong clock.
inline constexpr int64_t kEventAheadMaxMs = 86'400'000;

// Why a correct record is no play by the configuration.
enum class Skip : uint8_t {
  kNone,
  kIgnoredKind,  // `kinds` ignores it.
  kShortView,    // Too little was watched to count as a play.
};
inline constexpr size_t kSkipCount = 3;
std::string_view skip_name(Skip skip);  // "none", "ignored_kind", "short_view".

// A view counts as a play when it meets one of the rules that are set. Both times are in `unit`.
struct ViewRule {
  std::string watched = {};   // Field with the time watched; required in plays where a rule is set.
  std::string duration = {};  // Field with the length of the item; required where `share_min` decides.
  TimeUnit unit = TimeUnit::kMilliseconds;
  double share_min = 0;  // Least part of the item to watch, up to 1; 0: no such rule.
  int64_t ms_min = 0;    // Least time to watch; 0: no such rule.
  bool any() const { return share_min > 0 || ms_min > 0; }
};

// "play", "serve", "forget" or "forget_all".
std::string_view event_name(EventKind kind);
// The event kind of such a record; none: ignored.
using MappedKind = std::optional<EventKind>;
// "play", "serve", "forget", "forget_all" or "ignore".
bool is_kind(std::string_view word);
// The kind of such a word; none for "ignore".
MappedKind mapped_kind(std::string_view word);

struct PlayMapping {
  std::string user = "user";
  std::string item = "item";
  std::string time = "time";
  std::string scene = "scene";  // Empty: the site has no scenes.
  std::string event = "event";  // Empty: every record is a play.
  TimeUnit time_unit = TimeUnit::kMilliseconds;
  int64_t ahead_ms = 10 * 60 * 1000;  // An event time this far ahead is usual: see Ingest.
  size_t record_bytes_max = 65536;
  // The site's own names of kinds; "*" stands for every name that is neither here nor one of bloomring's, "" for a
  // record without a name.
  std::map<std::string, MappedKind, std::less<>> kinds = {};
  ViewRule view = {};
  std::vector<std::string> scenes = {};  // The accepted scenes; empty: all.
  bool forgets = true;  // Otherwise a forget is refused: only calls may ask for one.
};

// A parsed record. The views are valid until the parser's next call.
struct Play {
  std::string_view user;
  std::string_view item;  // Empty for kForgetAll.
  std::string_view scene;
  EventKind kind = EventKind::kPlay;
  int64_t time_ms = 0;
  int64_t latest_ms = 0;  // The end of its second for a time in whole seconds, otherwise `time_ms`.
  Skip skip = Skip::kNone;  // Otherwise the caller skips the record; with kIgnoredKind nothing else is set.
};

// Not thread safe; one a thread. Keeps its buffers.
class PlayParser {
 public:
  explicit PlayParser(PlayMapping mapping);
  ~PlayParser();
  PlayParser(PlayParser&&) noexcept;
  PlayParser& operator=(PlayParser&&) noexcept;

  // Parses one record. On refusal `detail()` says why, for people: the configuration key, the name of the field, and
  // the fault, as "events.item 'video.id': field missing".
  Refusal parse(std::string_view json, int64_t now_ms, Play& play);
  const std::string& detail() const;
  // The key whose field the last refusal is about, "events.item"; empty where it is about the record as a whole.
  std::string_view key() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
