#include "schemas/user_batch.h"

#include "base/hash.h"
#include "schemas/event.h"
#include "schemas/pieces/bytes.h"
#include "schemas/topics.h"

namespace bloomring {

namespace {

void write_header(ByteWriter& writer, uint8_t kind, uint8_t version, const DrainHeader& header) {
  writer.u8(kind);
  writer.u8(version);
  writer.u8(static_cast<uint8_t>(header.attempt));
  writer.varint(header.partition_count);
  writer.varint(static_cast<uint64_t>(header.partition.value));
  writer.varint(static_cast<uint64_t>(header.range.from.value));
  writer.varint(static_cast<uint64_t>(header.range.to.value));
  writer.u32(header.forgets_digest);
}

Status unknown_version(uint8_t version) {
  return bad_record("batch record: version " + std::to_string(version) + " is not known to this program");
}

// Reads the head after the kind byte and the version.
Status read_header(ByteReader& in, PartitionId partition, uint32_t partition_count, DrainHeader& header) {
  const uint8_t attempt = in.u8();
  if (attempt < 1 || attempt > 3) return bad_record("batch record: unknown attempt");
  header.attempt = static_cast<DrainAttempt>(attempt);
  if (in.varint() != partition_count || in.varint() != static_cast<uint64_t>(partition.value)) {
    return bad_record("batch record: made for another partition or partition count");
  }
  header.partition = partition;
  header.partition_count = partition_count;
  header.range.from = Offset(static_cast<int64_t>(in.varint()));
  header.range.to = Offset(static_cast<int64_t>(in.varint()));
  header.forgets_digest = in.u32();
  if (!in.ok() || header.range.from.value < 0 || header.range.to <= header.range.from) {
    return bad_record("batch record: header is cut short or its range is empty");
  }
  return {};
}

constexpr auto kQuarterFirst = static_cast<uint64_t>(kEventTimeMinMs / kQuarterMs);
constexpr size_t kItemBytesMin = sizeof(uint64_t) + 1;
constexpr auto kQuarterEnd = static_cast<uint64_t>(kEventTimeEndMs / kQuarterMs);

// The kind and lateness of a forget in one byte, in the order of Forget.
uint8_t rank_of(const Forget& forget) { return static_cast<uint8_t>(1 + 2 * forget.everything + forget.late); }
constexpr uint8_t kRankMax = 4;

void write_forget(ByteWriter& writer, const Forget& forget) {
  writer.u8(rank_of(forget));
  if (!forget.everything) writer.u64(forget.item.value);
  writer.varint(static_cast<uint64_t>(forget.time_ms));
  writer.varint(static_cast<uint64_t>(forget.offset.value));
}

Forget read_forget(ByteReader& in) {
  Forget forget;
  const uint8_t rank = in.u8();
  forget.everything = rank > 2;
  forget.late = rank % 2 == 0;
  if (!forget.everything) forget.item = ItemHash(in.u64());
  forget.time_ms = static_cast<int64_t>(in.varint());
  forget.offset = Offset(static_cast<int64_t>(in.varint()));
  return forget;
}

// The order of forgets of the same item, or of everything: times ascend, offsets descend.
bool same_item_ascends(const Forget& last, const Forget& next) {
  return next.item == last.item && next.time_ms > last.time_ms && next.offset < last.offset;
}

// Reads the number of forgets, and verifies that many.
Status verify_forgets(ByteReader& in, Offset end, uint64_t& forgets) {
  forgets = in.varint();
  if (forgets > in.left()) return bad_record("user batches: number of forgets is not possible");
  uint8_t last_rank = 0;
  Forget last;
  for (uint64_t i = 0; i < forgets; ++i) {
    ByteReader ahead = in;
    const uint8_t rank = ahead.u8();
    const Forget forget = read_forget(in);
    if (!in.ok() || rank == 0 || rank > kRankMax)
      return bad_record("user batches: forgets are cut short or of an unknown kind");
    const bool other_item = !forget.everything && forget.item.value > last.item.value;
    const bool ascends = rank > last_rank || (rank == last_rank && (other_item || same_item_ascends(last, forget)));
    if (!ascends) return bad_record("user batches: forgets are not ascending");
    if (forget.time_ms < kEventTimeMinMs || forget.time_ms >= kEventTimeEndMs || forget.offset.value < 0 ||
        forget.offset >= end) {
      return bad_record("user batches: time or offset of a forget out of range");
    }
    last_rank = rank;
    last = forget;
  }
  return {};
}

Status verify_quarters(ByteReader& in, bool may_be_none) {
  const uint64_t quarters = in.varint();
  if ((quarters == 0 && !may_be_none) || quarters > in.left()) {
    return bad_record("user batches: number of quarters is not possible");
  }
  uint64_t quarter = 0;
  for (uint64_t q = 0; q < quarters; ++q) {
    const uint64_t delta = in.varint();
    const uint64_t items = in.varint();
    if (!in.ok() || (q > 0 && delta == 0) || delta > kQuarterEnd) {
      return bad_record("user batches: quarters are cut short or not ascending");
    }
    quarter += delta;
    if (quarter < kQuarterFirst || quarter >= kQuarterEnd) return bad_record("user batches: quarter out of range");
    if (items == 0 || items > in.left() / kItemBytesMin)
      return bad_record("user batches: number of items is not possible");
    uint64_t last = 0;
    for (uint64_t i = 0; i < items; ++i) {
      const uint64_t item = in.u64();
      const uint64_t ms = in.varint();
      if (i > 0 && item <= last) return bad_record("user batches: items are not ascending");
      if (ms >= static_cast<uint64_t>(kQuarterMs))
        return bad_record("user batches: the time of a play lies outside its quarter");
      last = item;
    }
  }
  return {};
}

Status verify_users(ByteReader& in, const DrainHeader& header) {
  const uint64_t users = in.varint();
  if (!in.ok() || users == 0) return bad_record("user batches: no users");
  for (uint64_t user = 0; user < users; ++user) {
    const std::string_view key = in.bytes();
    if (!in.ok() || !UserKey::valid(key)) return bad_record("user batches: user key is not valid");
    if (partition_of(shard_of(key), header.partition_count) != header.partition) {
      return bad_record("user batches: user of another partition");
    }
    uint64_t forgets = 0;
    BLOOMRING_TRY(verify_forgets(in, header.range.to, forgets));
    BLOOMRING_TRY(verify_quarters(in, forgets > 0));
  }
  if (!in.ok() || !in.at_end()) return bad_record("user batches: length differs from its header");
  return {};
}

}  // namespace

void UserBatchBuilder::add(std::string_view user_key, std::span<const Forget> forgets,
                           std::span<const DrainedPlay> plays) {
  ByteWriter writer(body_);
  writer.bytes(user_key);
  writer.varint(forgets.size());
  for (const Forget& forget : forgets) write_forget(writer, forget);
  uint64_t quarters = 0;
  for (size_t i = 0; i < plays.size(); ++i) quarters += i == 0 || plays[i].quarter != plays[i - 1].quarter;
  writer.varint(quarters);
  uint32_t previous = 0;
  for (size_t begin = 0; begin < plays.size();) {
    size_t end = begin + 1;
    while (end < plays.size() && plays[end].quarter == plays[begin].quarter) ++end;
    writer.varint(plays[begin].quarter - previous);
    previous = plays[begin].quarter;
    writer.varint(end - begin);
    for (; begin < end; ++begin) {
      writer.u64(plays[begin].item.value);
      writer.varint(plays[begin].ms);
    }
  }
  ++users_;
}

std::string UserBatchBuilder::finish(const DrainHeader& header) {
  std::string out;
  out.reserve(body_.size() + 64);
  ByteWriter writer(out);
  write_header(writer, kUserBatchKind, kUserBatchVersion, header);
  writer.varint(users_);
  writer.raw(body_);
  seal(out, kUserBatchKind);
  BLOOMRING_CHECK(out.size() <= kRecordBytesMax, "a user batches record is larger than its topic takes");
  body_.clear();
  users_ = 0;
  return out;
}

Result<UserBatchReader> UserBatchReader::open(std::string_view bytes, PartitionId partition, uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kUserBatchKind, &body))
    return bad_record("user batches: checksum differs or bytes are missing");
  ByteReader in(body);
  if (in.u8() != kUserBatchKind) return bad_record("user batches: not a user batches record");
  if (const uint8_t version = in.u8(); version != kUserBatchVersion) return unknown_version(version);
  UserBatchReader reader;
  BLOOMRING_TRY(read_header(in, partition, partition_count, reader.header_));
  const std::string_view users = body.substr(body.size() - in.left());
  BLOOMRING_TRY(verify_users(in, reader.header_));
  ByteReader again(users);
  reader.users_left_ = again.varint();
  reader.rest_ = users.substr(users.size() - again.left());
  return reader;
}

bool UserBatchReader::next_user() {
  static thread_local std::vector<ItemHash> skipped;
  static thread_local std::vector<int64_t> skipped_times;
  for (QuarterIndex quarter; quarters_left_ > 0;) next_quarter(quarter, skipped, skipped_times);
  if (users_left_ == 0) return false;
  --users_left_;
  ByteReader in(rest_);
  user_key_ = in.bytes();
  forgets_.clear();
  for (uint64_t n = in.varint(); n > 0; --n) forgets_.push_back(read_forget(in));
  quarters_left_ = in.varint();
  rest_ = rest_.substr(rest_.size() - in.left());
  quarter_ = 0;
  return true;
}

bool UserBatchReader::next_quarter(QuarterIndex& quarter, std::vector<ItemHash>& items,
                                   std::vector<int64_t>& times_ms) {
  if (quarters_left_ == 0) return false;
  --quarters_left_;
  ByteReader in(rest_);
  quarter_ += in.varint();
  quarter = QuarterIndex(static_cast<int64_t>(quarter_));
  const int64_t start_ms = quarter.value * kQuarterMs;
  items.resize(in.varint());
  times_ms.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    items[i] = ItemHash(in.u64());
    times_ms[i] = start_ms + static_cast<int64_t>(in.varint());
  }
  rest_ = rest_.substr(rest_.size() - in.left());
  return true;
}

uint64_t record_digest(std::string_view record) { return hash_bytes(record, 0); }

namespace {

// Everything before the keyed sum.
std::string slot_end_body(const SlotEnd& end) {
  std::string out;
  ByteWriter writer(out);
  write_header(writer, kSlotEndKind, end.version, end.header);
  writer.varint(end.hours.size());
  for (const DrainedHour& drained : end.hours) {
    writer.varint(static_cast<uint64_t>(drained.hour.value));
    writer.varint(static_cast<uint64_t>(drained.range.from.value));
    writer.varint(static_cast<uint64_t>(drained.range.to.value));
  }
  writer.varint(end.users);
  writer.varint(end.plays);
  writer.varint(end.records);
  if (end.version != kSlotEndVersionWithoutSum) writer.u64(end.digest);
  return out;
}

}  // namespace

std::string encode_slot_end(const SlotEnd& end) {
  std::string out = slot_end_body(end);
  if (end.version != kSlotEndVersionWithoutSum) ByteWriter(out).u64(end.keyed_sum);
  seal(out, kSlotEndKind);
  return out;
}

std::string encode_slot_end(SlotEnd end, const SumKey& key) {
  end.keyed_sum = slot_end_sum(end, key);
  return encode_slot_end(end);
}

uint64_t slot_end_sum(const SlotEnd& end, const SumKey& key) { return keyed_sum(slot_end_body(end), key); }

namespace {

// Reads the hours: disjoint, ascending by number and by offsets, within the header's range.
Status read_hours(ByteReader& in, SlotEnd& end) {
  const uint64_t count = in.varint();
  if (count == 0 || count > in.left()) return bad_record("slot end: number of hours is not possible");
  Offset floor = end.header.range.from;
  int64_t last_hour = -1;
  for (uint64_t i = 0; i < count; ++i) {
    const auto hour = static_cast<int64_t>(in.varint());
    const auto from = static_cast<int64_t>(in.varint());
    const auto to = static_cast<int64_t>(in.varint());
    if (!in.ok() || hour <= last_hour || from < floor.value || to <= from || to > end.header.range.to.value) {
      return bad_record("slot end: hours are cut short or not in order");
    }
    floor = Offset(to);
    last_hour = hour;
    end.hours.push_back({HourIndex(hour), {Offset(from), Offset(to)}});
  }
  return {};
}

Result<SlotEnd> decode_slot_end(std::string_view bytes, PartitionId partition, uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kSlotEndKind, &body)) return bad_record("slot end: checksum differs or bytes are missing");
  ByteReader in(body);
  in.u8();
  SlotEnd end;
  end.version = in.u8();
  const bool summed = end.version == kSlotEndVersion;
  if (!summed && end.version != kSlotEndVersionWithoutSum) return unknown_version(end.version);
  BLOOMRING_TRY(read_header(in, partition, partition_count, end.header));
  BLOOMRING_TRY(read_hours(in, end));
  end.users = in.varint();
  end.plays = in.varint();
  end.records = in.varint();
  if (summed) end.digest = in.u64();
  if (summed) end.keyed_sum = in.u64();
  if (!in.ok() || !in.at_end()) return bad_record("slot end: length is wrong");
  return end;
}

}  // namespace

Result<BatchRecord> decode_batch_record(std::string_view bytes, PartitionId partition, uint32_t partition_count) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes[0]) == kSlotEndKind) {
    BLOOMRING_TRY_ASSIGN(SlotEnd end, decode_slot_end(bytes, partition, partition_count));
    return BatchRecord(end);
  }
  BLOOMRING_TRY_ASSIGN(UserBatchReader reader, UserBatchReader::open(bytes, partition, partition_count));
  return BatchRecord(reader);
}

}  // namespace bloomring
