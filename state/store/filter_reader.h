// Reading a filter store: the filters of users, the merged watermarks, the scenes. One of the store's three interfaces
// (writing: filter_writer.h; administration: store_admin.h). A network may lie behind it.
//
// Guarantees: a read that begins after `heard_watermark` or `read_watermark` of the same instance returned a watermark
// sees at least everything that this watermark covers. A read never returns expired filters; wall clock and merged log
// time together decide which have expired (state/merged_time.h).
// Errors: kRetry when the store is not reachable or stalls, kCorrupt for bytes that are not ours, kFatal when the store
// cannot continue.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "state/store/stored_values.h"
#include "state/store/watermark_reader.h"

namespace bloomring {

// One user of a read. Borrows both from the read.
struct UserPeriods {
  UserRef user;
  std::span<const PeriodIndex> periods;  // Of the wanted filters.
};

// One read: its question, and the end of it. The reader shares it until it has called `end` or `refuse`.
class FilterRead {
 public:
  virtual ~FilterRead() = default;
  // Constant while the read runs, and so is everything that it borrows.
  virtual std::span<const UserPeriods> users() const = 0;
  // The caller, as a number: reads that wait are fair between callers. 0: nobody in particular.
  virtual uint64_t caller() const { return 0; }
  // False when nobody waits for the answer any more: a reader may then call `refuse` instead of reading.
  virtual bool wanted() const { return true; }
  // The result of each user, in the order of `users`. Exactly one of `end` and `refuse` is called, once: on the thread
  // that began the read before `begin_read` returns, or later on a thread of the reader. Neither may block.
  virtual void end(std::vector<Result<StoredUser>> users) = 0;
  // The reader has too many reads under way.
  virtual void refuse() = 0;
};

class FilterReader : public WatermarkReader {
 public:
  // Reads the filters and the forgotten values of all users of the read, of each user as of one moment.
  virtual void begin_read(std::shared_ptr<FilterRead> read) = 0;

  // Merged log time of the store (state/merged_time.h): the latest of all watermarks that are visible; nothing while
  // none has one. Never waits.
  virtual std::optional<int64_t> merged_ms() const = 0;

  // The scenes with any stored data: at least those that a read could find at the call. May wait. kInvalid from a store
  // that cannot tell.
  virtual Result<std::set<std::string>> scenes() const { return invalid("this filter store lists no scenes"); }
  // The same, for a caller that must not wait: `ended` gets the scenes, before this returns or later on a thread of the
  // reader, and must not block.
  using TakeScenes = std::function<void(Result<std::set<std::string>>)>;
  virtual void begin_scenes(TakeScenes ended) const { ended(scenes()); }
};

// Reads one user and waits for the end: for tools and tests, never for a step or a thread of the service. kRetry also
// when the reader refuses.
Result<StoredUser> read_now(FilterReader& reader, UserRef user, std::span<const PeriodIndex> periods);

}  // namespace bloomring
