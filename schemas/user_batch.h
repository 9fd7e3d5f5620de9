// The records of user-batches, from the window stage to the merge stage (docs/formats.md, "User batches", "Slot end").
//
// A *user batches* record carries the batches of several users of one drain. A user's batch has the items of the user's
// plays in the drained slot, with the time of the latest play of each, grouped by the quarter of an hour of their event
// time (the merge stage turns quarters into periods), sorted and without repeats. It also has the user's forgets in
// this slot and in every earlier slot that was not merged at the drain. A *slot end* record says that every batch of
// the drained range is before it in the partition; the window stage sends it only after the broker has acknowledged all
// of those. Both name the range of user-events offsets that they cover, so that the merge stage can skip ranges that
// are merged already. A slot end has the number and the digest of its batches, and a keyed sum of all that it says, so
// that nobody without the key of the view's store (schemas/store/slot_end_key.h) can write one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/keyed_sum.h"
#include "base/result.h"
#include "base/user_ref.h"
#include "schemas/forget.h"

namespace bloomring {

// The head of both records.
struct DrainHeader {
  PartitionId partition;
  uint32_t partition_count = 0;
  OffsetRange range;  // Of user-events, from the first drained hour's start to the last one's end; not empty.
  DrainAttempt attempt = DrainAttempt::kFirst;
  // Hash of the hours from which the drain takes forgets, and of the bounds from which they are late; 0 for none. Two
  // drains with the same header make the same batches.
  uint32_t forgets_digest = 0;
  bool operator==(const DrainHeader&) const = default;
};

// A drained play of a user: 16 bytes, since a pass holds millions. The order of comparison is the order in the record.
struct DrainedPlay {
  uint32_t quarter = 0;  // QuarterIndex: below 2^23 up to the year 2100.
  uint32_t ms = 0;       // Into the quarter: [0, kQuarterMs).
  ItemHash item;

  static DrainedPlay at(int64_t time_ms, ItemHash item) {
    return {static_cast<uint32_t>(time_ms / kQuarterMs), static_cast<uint32_t>(time_ms % kQuarterMs), item};
  }
  int64_t time_ms() const { return quarter * kQuarterMs + ms; }
  auto operator<=>(const DrainedPlay& other) const {
    return std::tie(quarter, item.value, ms) <=> std::tie(other.quarter, other.item.value, other.ms);
  }
  bool operator==(const DrainedPlay&) const = default;
};

// Writes a user batches record. Reusable; not thread safe.
class UserBatchBuilder {
 public:
  // Adds one user's forgets and plays, at least one of either, both sorted. No two plays have the same quarter and
  // item. Forgets of the same kind, lateness and item have ascending times and descending offsets.
  void add(std::string_view user_key, std::span<const Forget> forgets, std::span<const DrainedPlay> plays);
  size_t users() const { return users_; }
  size_t bytes() const { return body_.size(); }
  // The record's bytes; the builder is empty afterwards. At least one user was added.
  std::string finish(const DrainHeader& header);

 private:
  std::string body_;
  size_t users_ = 0;
};

// Reads a user batches record; `open` verifies all of it. Borrows: the caller keeps the bytes of the record, unchanged
// and in place, for as long as the reader or a user key of it is used.
class UserBatchReader {
 public:
  static Result<UserBatchReader> open(std::string_view bytes BLOOMRING_LIFETIMEBOUND, PartitionId partition,
                                      uint32_t partition_count);
  template <OwningTemporary Bytes>
  static Result<UserBatchReader> open(Bytes&& bytes, PartitionId partition, uint32_t partition_count) = delete;

  const DrainHeader& header() const { return header_; }
  bool next_user();
  std::string_view user_key() const { return user_key_; }
  UserRef user() const { return user_key_; }  // Hashes the key.
  // The user's forgets, in order.
  const std::vector<Forget>& forgets() const { return forgets_; }
  // Moves to the user's next quarter and replaces `items` by its item hashes, ascending, and `times_ms` by the time of
  // the latest play of each.
  bool next_quarter(QuarterIndex& quarter, std::vector<ItemHash>& items, std::vector<int64_t>& times_ms);

 private:
  DrainHeader header_;
  std::string_view rest_;
  uint64_t users_left_ = 0;
  uint64_t quarters_left_ = 0;
  uint64_t quarter_ = 0;
  std::string_view user_key_;
  std::vector<Forget> forgets_;
};

// One hour that a drain covered, with its range of user-events offsets.
struct DrainedHour {
  HourIndex hour;
  OffsetRange range;
  bool operator==(const DrainedHour&) const = default;
};

inline constexpr uint8_t kUserBatchKind = 0xB1;
inline constexpr uint8_t kSlotEndKind = 0xB2;
inline constexpr uint8_t kUserBatchVersion = 2;  // Version 1 had neither times nor forgets.
inline constexpr uint8_t kSlotEndVersion = 3;
inline constexpr uint8_t kSlotEndVersionWithoutSum = 2;  // Had neither digest nor keyed sum.

// The digest of a drain is the sum of this over its different records, in any order.
uint64_t record_digest(std::string_view record);

// The slot end: the hours that it completes (several after a lap, disjoint and ascending), and the totals of the drain.
struct SlotEnd {
  DrainHeader header;
  std::vector<DrainedHour> hours;  // At least one; all within header.range.
  uint64_t users = 0;
  uint64_t plays = 0;
  uint64_t records = 0;  // Different ones.
  uint64_t digest = 0;   // Of the records.
  uint64_t keyed_sum = 0;
  uint8_t version = kSlotEndVersion;
  bool operator==(const SlotEnd&) const = default;
};

// The bytes of the slot end with the keyed sum that it has, or with that of the key.
std::string encode_slot_end(const SlotEnd& end);
std::string encode_slot_end(SlotEnd end, const SumKey& key);
// The sum that the slot end has when it was written with this key.
uint64_t slot_end_sum(const SlotEnd& end, const SumKey& key);

// A record of user-batches: user batches or a slot end; kBadRecord with the reason otherwise. The reader borrows the
// bytes.
using BatchRecord = std::variant<UserBatchReader, SlotEnd>;
Result<BatchRecord> decode_batch_record(std::string_view bytes BLOOMRING_LIFETIMEBOUND, PartitionId partition,
                                        uint32_t partition_count);
template <OwningTemporary Bytes>
Result<BatchRecord> decode_batch_record(Bytes&& bytes, PartitionId partition, uint32_t partition_count) = delete;

}  // namespace bloomring
