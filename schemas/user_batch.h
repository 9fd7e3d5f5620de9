// What the window stage hands to the merge stage through user-batches (docs/formats.md, "User batches", "Slot end").
//
// A *user batches* record carries the batches of several users of one drain: per user the item hashes of its plays in
// the drained slot, grouped by the quarter of an hour of their event time (the merge stage turns quarters into
// periods), sorted and without repeats. A *slot end* record says that every batch of the drained range stands before
// it in the partition; it is sent only after all of those were acknowledged. Both name the range of user-events
// offsets they were made from, so that the merge stage can tell what is merged already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

// Which run of a slot made a record: for counters, not for correctness.
enum class DrainAttempt : uint8_t { kFirst = 1, kSecond = 2, kLap = 3 };

// The head of both records.
struct DrainHeader {
  PartitionId partition;
  uint32_t partition_count = 0;
  OffsetRange range;  // Of user-events, from the first drained hour's start to the last one's end; not empty.
  DrainAttempt attempt = DrainAttempt::kFirst;
  bool operator==(const DrainHeader&) const = default;
};

// A play of a user as it is drained.
struct DrainedPlay {
  QuarterIndex quarter;
  ItemHash item;
  auto operator<=>(const DrainedPlay&) const = default;
};

// Writes a user batches record. Reusable; not thread safe.
class UserBatchBuilder {
 public:
  // Adds one user's plays, sorted and without repeats; at least one.
  void add(std::string_view user_key, std::span<const DrainedPlay> plays);
  size_t users() const { return users_; }
  size_t bytes() const { return body_.size(); }
  // The record's bytes; the builder is empty afterwards. At least one user was added.
  std::string finish(const DrainHeader& header);

 private:
  std::string body_;
  size_t users_ = 0;
};

// Reads a user batches record; `open` verifies all of it. The bytes are borrowed.
class UserBatchReader {
 public:
  static Result<UserBatchReader> open(std::string_view bytes, PartitionId partition, uint32_t partition_count);

  const DrainHeader& header() const { return header_; }
  bool next_user();
  std::string_view user_key() const { return user_key_; }
  // Moves to the user's next quarter and replaces `items` by its item hashes, ascending.
  bool next_quarter(QuarterIndex& quarter, std::vector<ItemHash>& items);

 private:
  DrainHeader header_;
  std::string_view rest_;
  uint64_t users_left_ = 0;
  uint64_t quarters_left_ = 0;
  uint64_t quarter_ = 0;
  std::string_view user_key_;
};

// One hour that a drain covered, with its range of user-events offsets.
struct DrainedHour {
  HourIndex hour;
  OffsetRange range;
  bool operator==(const DrainedHour&) const = default;
};

// The slot-end marker: the hours that are complete with it (several after a lap, disjoint and ascending), and the
// totals of the drain.
struct SlotEnd {
  DrainHeader header;
  std::vector<DrainedHour> hours;  // At least one; all within header.range.
  uint64_t users = 0;
  uint64_t plays = 0;
  uint64_t records = 0;
  bool operator==(const SlotEnd&) const = default;
};

std::string encode_slot_end(const SlotEnd& end);

// A record of user-batches: one or the other, kBadRecord with the reason otherwise.
using BatchRecord = std::variant<UserBatchReader, SlotEnd>;
Result<BatchRecord> decode_batch_record(std::string_view bytes, PartitionId partition, uint32_t partition_count);

inline constexpr uint8_t kUserBatchKind = 0xB1;
inline constexpr uint8_t kSlotEndKind = 0xB2;
inline constexpr uint8_t kBatchVersion = 1;

}  // namespace bloomring
