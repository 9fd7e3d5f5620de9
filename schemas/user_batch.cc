#include "schemas/user_batch.h"

#include "schemas/bytes.h"
#include "schemas/event.h"

namespace bloomring {

namespace {

void write_header(ByteWriter& writer, uint8_t kind, const DrainHeader& header) {
  writer.u8(kind);
  writer.u8(kBatchVersion);
  writer.u8(static_cast<uint8_t>(header.attempt));
  writer.varint(header.partition_count);
  writer.varint(static_cast<uint64_t>(header.partition.value));
  writer.varint(static_cast<uint64_t>(header.range.from.value));
  writer.varint(static_cast<uint64_t>(header.range.to.value));
}

// Reads the head behind the kind byte.
Status read_header(ByteReader& in, PartitionId partition, uint32_t partition_count, DrainHeader& header) {
  if (const uint8_t version = in.u8(); version != kBatchVersion) {
    return bad_record("batch record: version " + std::to_string(version) + " is not known to this program");
  }
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
  if (!in.ok() || header.range.from.value < 0 || header.range.to <= header.range.from) {
    return bad_record("batch record: header is cut short or its range is empty");
  }
  return {};
}

constexpr auto kQuarterFirst = static_cast<uint64_t>(kEventTimeMinMs / kQuarterMs);
constexpr auto kQuarterEnd = static_cast<uint64_t>(kEventTimeEndMs / kQuarterMs);

Status verify_quarters(ByteReader& in) {
  const uint64_t quarters = in.varint();
  if (quarters == 0 || quarters > in.left()) return bad_record("user batches: number of quarters is not possible");
  uint64_t quarter = 0;
  for (uint64_t q = 0; q < quarters; ++q) {
    const uint64_t delta = in.varint();
    const uint64_t items = in.varint();
    if (!in.ok() || (q > 0 && delta == 0) || delta > kQuarterEnd) {
      return bad_record("user batches: quarters are cut short or not ascending");
    }
    quarter += delta;
    if (quarter < kQuarterFirst || quarter >= kQuarterEnd) return bad_record("user batches: quarter out of range");
    if (items == 0 || items > in.left() / sizeof(uint64_t)) return bad_record("user batches: number of items is not possible");
    uint64_t last = 0;
    for (uint64_t i = 0; i < items; ++i) {
      const uint64_t item = in.u64();
      if (i > 0 && item <= last) return bad_record("user batches: items are not ascending");
      last = item;
    }
  }
  return {};
}

Status verify_users(ByteReader& in, PartitionId partition, uint32_t partition_count) {
  const uint64_t users = in.varint();
  if (!in.ok() || users == 0) return bad_record("user batches: no users");
  for (uint64_t user = 0; user < users; ++user) {
    const std::string_view key = in.bytes();
    if (!in.ok() || !UserKey::valid(key)) return bad_record("user batches: user key is not valid");
    if (partition_of(shard_of(key), partition_count) != partition) return bad_record("user batches: user of another partition");
    BLOOMRING_TRY(verify_quarters(in));
  }
  if (!in.ok() || !in.at_end()) return bad_record("user batches: length differs from its header");
  return {};
}

}  // namespace

void UserBatchBuilder::add(std::string_view user_key, std::span<const DrainedPlay> plays) {
  ByteWriter writer(body_);
  writer.bytes(user_key);
  uint64_t quarters = 0;
  for (size_t i = 0; i < plays.size(); ++i) quarters += i == 0 || plays[i].quarter != plays[i - 1].quarter;
  writer.varint(quarters);
  int64_t previous = 0;
  for (size_t begin = 0; begin < plays.size();) {
    size_t end = begin + 1;
    while (end < plays.size() && plays[end].quarter == plays[begin].quarter) ++end;
    writer.varint(static_cast<uint64_t>(plays[begin].quarter.value - previous));
    previous = plays[begin].quarter.value;
    writer.varint(end - begin);
    for (; begin < end; ++begin) writer.u64(plays[begin].item.value);
  }
  ++users_;
}

std::string UserBatchBuilder::finish(const DrainHeader& header) {
  std::string out;
  out.reserve(body_.size() + 64);
  ByteWriter writer(out);
  write_header(writer, kUserBatchKind, header);
  writer.varint(users_);
  writer.raw(body_);
  seal(out, kUserBatchKind);
  body_.clear();
  users_ = 0;
  return out;
}

Result<UserBatchReader> UserBatchReader::open(std::string_view bytes, PartitionId partition, uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kUserBatchKind, &body)) return bad_record("user batches: checksum differs or bytes are missing");
  ByteReader in(body);
  if (in.u8() != kUserBatchKind) return bad_record("user batches: not a user batches record");
  UserBatchReader reader;
  BLOOMRING_TRY(read_header(in, partition, partition_count, reader.header_));
  const std::string_view users = body.substr(body.size() - in.left());
  BLOOMRING_TRY(verify_users(in, partition, partition_count));
  ByteReader again(users);
  reader.users_left_ = again.varint();
  reader.rest_ = users.substr(users.size() - again.left());
  return reader;
}

bool UserBatchReader::next_user() {
  static thread_local std::vector<ItemHash> skipped;
  for (QuarterIndex quarter; quarters_left_ > 0;) next_quarter(quarter, skipped);
  if (users_left_ == 0) return false;
  --users_left_;
  ByteReader in(rest_);
  user_key_ = in.bytes();
  quarters_left_ = in.varint();
  rest_ = rest_.substr(rest_.size() - in.left());
  quarter_ = 0;
  return true;
}

bool UserBatchReader::next_quarter(QuarterIndex& quarter, std::vector<ItemHash>& items) {
  if (quarters_left_ == 0) return false;
  --quarters_left_;
  ByteReader in(rest_);
  quarter_ += in.varint();
  quarter = QuarterIndex(static_cast<int64_t>(quarter_));
  items.resize(in.varint());
  for (ItemHash& item : items) item = ItemHash(in.u64());
  rest_ = rest_.substr(rest_.size() - in.left());
  return true;
}

std::string encode_slot_end(const SlotEnd& end) {
  std::string out;
  ByteWriter writer(out);
  write_header(writer, kSlotEndKind, end.header);
  writer.varint(end.hours.size());
  for (const DrainedHour& drained : end.hours) {
    writer.varint(static_cast<uint64_t>(drained.hour.value));
    writer.varint(static_cast<uint64_t>(drained.range.from.value));
    writer.varint(static_cast<uint64_t>(drained.range.to.value));
  }
  writer.varint(end.users);
  writer.varint(end.plays);
  writer.varint(end.records);
  seal(out, kSlotEndKind);
  return out;
}

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
  BLOOMRING_TRY(read_header(in, partition, partition_count, end.header));
  BLOOMRING_TRY(read_hours(in, end));
  end.users = in.varint();
  end.plays = in.varint();
  end.records = in.varint();
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
