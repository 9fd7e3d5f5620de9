#include "schemas/event_block.h"

#include "base/hash.h"
#include "schemas/pieces/bytes.h"

namespace bloomring {

namespace {

constexpr size_t kHeaderBytesMax = 3 + 5 * 10;
constexpr size_t kUserBytesMax = 2 + 5;       // Length of the key and number of events.
constexpr size_t kEventBytesMax = 1 + 8 + 7;  // Kind, item, time: 2^49 ms is beyond 2100.

// Reads one varint at `at`, from bytes that were verified before.
uint64_t trusted_varint(std::string_view body, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(body[at++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

size_t EventBlockBuilder::bytes_max() const {
  return kHeaderBytesMax + users_.key_bytes() + users_.size() * kUserBytesMax + entries_.size() * kEventBytesMax;
}

void EventBlockBuilder::add(UserRef by, const Event& event) {
  if (entries_.empty() || event.time_ms < time_min_ms_) time_min_ms_ = event.time_ms;
  const uint32_t user = users_.find_or_add(by);
  const auto index = static_cast<uint32_t>(entries_.size());
  entries_.push_back({event, kNone});
  if (user == chains_.size()) {
    chains_.push_back({index, index, 1});
    return;
  }
  Chain& chain = chains_[user];
  entries_[chain.last].next = index;
  chain.last = index;
  ++chain.events;
}

std::string EventBlockBuilder::finish(PartitionId partition, uint32_t partition_count) {
  std::string out;
  out.reserve(bytes_max() + sizeof(uint32_t));
  ByteWriter writer(out);
  writer.u8(kEventBlockKind);
  writer.u8(kEventBlockVersion);
  writer.u8(0);  // Flags: none yet.
  writer.varint(partition_count);
  writer.varint(static_cast<uint64_t>(partition.value));
  writer.varint(static_cast<uint64_t>(time_min_ms_));
  writer.varint(users_.size());
  writer.varint(entries_.size());
  for (uint32_t user = 0; user < users_.size(); ++user) {
    writer.bytes(users_.key(user));
    writer.varint(chains_[user].events);
    for (uint32_t i = chains_[user].first; i != kNone; i = entries_[i].next) {
      const Event& event = entries_[i].event;
      writer.u8(static_cast<uint8_t>(event.kind));
      writer.u64(event.item.value);
      writer.varint(static_cast<uint64_t>(event.time_ms - time_min_ms_));
    }
  }
  seal(out, kEventBlockKind);
  entries_.clear();
  users_.clear();
  chains_.clear();
  return out;
}

Result<EventBlockReader> EventBlockReader::open(std::string_view bytes, PartitionId partition,
                                                uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kEventBlockKind, &body))
    return bad_record("event block: checksum differs or bytes are missing");
  EventBlockReader reader;
  reader.body_ = body;
  BLOOMRING_TRY(reader.verify(partition, partition_count));
  EventBlockReader verified = reopen(bytes);
  verified.forgets_ = reader.forgets_;
  verified.newest_play_ms_ = reader.newest_play_ms_;
  return verified;
}

Status EventBlockReader::verify(PartitionId partition, uint32_t partition_count) {
  ByteReader in(body_);
  if (in.u8() != kEventBlockKind) return bad_record("event block: not an event block");
  if (const uint8_t version = in.u8(); version != kEventBlockVersion) {
    return bad_record("event block: version " + std::to_string(version) + " is not known to this program");
  }
  if (in.u8() != 0) return bad_record("event block: unknown flags");
  if (in.varint() != partition_count || in.varint() != static_cast<uint64_t>(partition.value)) {
    return bad_record("event block: made for another partition or partition count");
  }
  const uint64_t base = in.varint();
  const uint64_t users = in.varint();
  const uint64_t events = in.varint();
  if (base < static_cast<uint64_t>(kEventTimeMinMs) || base >= static_cast<uint64_t>(kEventTimeEndMs)) {
    return bad_record("event block: base time out of range");
  }
  if (!in.ok() || users == 0) return bad_record("event block: header is cut short or empty");
  uint64_t seen = 0;
  for (uint64_t user = 0; user < users; ++user) {
    const std::string_view key = in.bytes();
    const uint64_t count = in.varint();
    if (!in.ok() || !UserKey::valid(key)) return bad_record("event block: user key is not valid");
    if (partition_of(shard_of(key), partition_count) != partition)
      return bad_record("event block: user of another partition");
    if (count == 0 || count > in.left()) return bad_record("event block: number of events is not possible");
    for (uint64_t i = 0; i < count; ++i) {
      const uint8_t kind = in.u8();
      in.u64();
      const uint64_t delta = in.varint();
      if (kind == 0 || kind > kEventKindMax) return bad_record("event block: unknown event kind or cut short");
      if (delta >= static_cast<uint64_t>(kEventTimeEndMs) - base) {
        return bad_record("event block: event time out of range");
      }
      forgets_ += is_forget(static_cast<EventKind>(kind)) ? 1 : 0;
      const bool play = static_cast<EventKind>(kind) == EventKind::kPlay;
      newest_play_ms_ = std::max(newest_play_ms_, play ? static_cast<int64_t>(base + delta) : 0);
    }
    seen += count;
  }
  if (!in.ok() || !in.at_end() || seen != events) return bad_record("event block: length differs from its header");
  return {};
}

EventBlockReader EventBlockReader::reopen(std::string_view bytes) {
  EventBlockReader reader;
  reader.body_ = bytes.substr(0, bytes.size() - sizeof(uint32_t));
  reader.at_ = 3;
  trusted_varint(reader.body_, reader.at_);  // Partition count.
  trusted_varint(reader.body_, reader.at_);  // Partition.
  reader.time_base_ms_ = static_cast<int64_t>(trusted_varint(reader.body_, reader.at_));
  reader.users_left_ = trusted_varint(reader.body_, reader.at_);
  reader.events_ = trusted_varint(reader.body_, reader.at_);
  return reader;
}

bool EventBlockReader::next_user() {
  while (user_events_left_ > 0) next_event();
  if (users_left_ == 0) return false;
  --users_left_;
  const uint64_t key_bytes = trusted_varint(body_, at_);
  user_key_ = body_.substr(at_, key_bytes);
  at_ += key_bytes;
  user_events_left_ = trusted_varint(body_, at_);
  return true;
}

bool EventBlockReader::next_event() {
  if (user_events_left_ == 0) return false;
  --user_events_left_;
  event_.kind = static_cast<EventKind>(body_[at_++]);
  std::memcpy(&event_.item.value, body_.data() + at_, sizeof(uint64_t));
  at_ += sizeof(uint64_t);
  event_.time_ms = time_base_ms_ + static_cast<int64_t>(trusted_varint(body_, at_));
  return true;
}

}  // namespace bloomring
