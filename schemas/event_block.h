// The event block: many events of one partition in one record of user-events (docs/formats.md, "Event block").
//
// Ingest packs blocks; the window and serve stages read them. An event carries the hash of its item, not the text:
// filters and recent plays need no more. (A later view, play history, will carry texts in blocks with a flag.) A block
// carries user keys whole, because they name filters and people ask about users by name. Events are grouped by user:
// users in the order of their first event, events of a user in the order of `add`, so that a forget stays after the
// plays that it forgets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/user_ref.h"
#include "base/user_table.h"
#include "schemas/event.h"

namespace bloomring {

// Collects events and writes them as a block. Reusable; not thread safe.
class EventBlockBuilder {
 public:
  void add(UserRef user, const Event& event);
  size_t events() const { return entries_.size(); }
  // An upper bound of the size of the finished block, in bytes.
  size_t bytes_max() const;
  // The block's bytes; the builder is empty afterwards. At least one event was added.
  std::string finish(PartitionId partition, uint32_t partition_count);

 private:
  struct Entry {
    Event event;
    uint32_t next;  // Index of the user's next event, or kNone.
  };
  struct Chain {
    uint32_t first;
    uint32_t last;
    uint32_t events;
  };
  static constexpr uint32_t kNone = 0xffffffff;

  std::vector<Entry> entries_;
  UserTable users_;
  std::vector<Chain> chains_;  // One for each user.
  int64_t time_min_ms_ = 0;
};

// Reads a block. `open` verifies all of it, so that reading cannot fail afterwards, and a block is accepted as a whole
// or refused. Borrows: the caller keeps the bytes of the block, unchanged and in place, for as long as the reader, a
// copy of it or a user key of it is used.
class EventBlockReader {
 public:
  // kBadRecord with the reason: wrong kind, version, checksum, length, partition, user key, event or order.
  static Result<EventBlockReader> open(std::string_view bytes BLOOMRING_LIFETIMEBOUND, PartitionId partition,
                                       uint32_t partition_count);
  template <OwningTemporary Bytes>
  static Result<EventBlockReader> open(Bytes&& bytes, PartitionId partition, uint32_t partition_count) = delete;
  // For bytes that `open` has accepted before and that were stored under a checksum since: no second verification.
  static EventBlockReader reopen(std::string_view bytes BLOOMRING_LIFETIMEBOUND);
  template <OwningTemporary Bytes>
  static EventBlockReader reopen(Bytes&& bytes) = delete;

  uint64_t events() const { return events_; }
  // The forgets among them; 0, unknown, in a reopened block.
  uint64_t forgets() const { return forgets_; }
  // The newest event time of its plays; 0 without plays, and in a reopened block, where it is unknown.
  int64_t newest_play_ms() const { return newest_play_ms_; }

  // Moves to the next user, and skips the unread events of the previous one.
  bool next_user();
  std::string_view user_key() const { return user_key_; }
  UserRef user() const { return user_key_; }  // Hashes the key.
  // Moves to the user's next event.
  bool next_event();
  const Event& event() const { return event_; }

 private:
  EventBlockReader() = default;
  Status verify(PartitionId partition, uint32_t partition_count);

  std::string_view body_;  // Without the checksum.
  size_t at_ = 0;
  uint64_t events_ = 0;
  uint64_t forgets_ = 0;
  int64_t newest_play_ms_ = 0;
  uint64_t users_left_ = 0;
  uint64_t user_events_left_ = 0;
  int64_t time_base_ms_ = 0;
  std::string_view user_key_;
  Event event_;
};

inline constexpr uint8_t kEventBlockKind = 0xE1;
inline constexpr uint8_t kEventBlockVersion = 1;

}  // namespace bloomring
