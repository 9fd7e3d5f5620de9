#include "schemas/watermark.h"

#include <algorithm>

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 3;  // Version 2 has no slot length.
constexpr uint8_t kVersionWithoutTime = 1;
constexpr int64_t kTimeEndMs = 1LL << 62;  // Leaves room to add a day.

// True when `add` could have left these fields.
bool well_formed(const MergedWatermark& watermark) {
  if (watermark.offset.value < 0 || watermark.ahead.size() > MergedWatermark::kAheadMax) return false;
  if (watermark.slot_ms < 0 || watermark.slot_ms >= kTimeEndMs) return false;
  if (watermark.merged_ms && (*watermark.merged_ms <= 0 || *watermark.merged_ms >= kTimeEndMs)) return false;
  Offset last = watermark.offset;
  for (const OffsetRange& range : watermark.ahead) {
    if (range.from <= last || range.to <= range.from) return false;
    last = range.to;
  }
  return true;
}

MergedWatermark read_fields(ByteReader& reader, uint8_t version) {
  MergedWatermark watermark;
  watermark.offset = Offset(static_cast<int64_t>(reader.u64()));
  watermark.hour = HourIndex(static_cast<int64_t>(reader.u64()));
  const uint64_t merged_ms = version == kVersionWithoutTime ? 0 : reader.u64();
  if (merged_ms != 0) watermark.merged_ms = static_cast<int64_t>(merged_ms);
  if (version == kVersion) watermark.slot_ms = static_cast<int64_t>(reader.u64());
  const uint8_t count = reader.u8();
  for (uint8_t i = 0; i < count && reader.ok(); ++i) {
    const Offset from(static_cast<int64_t>(reader.u64()));
    watermark.ahead.push_back({from, Offset(static_cast<int64_t>(reader.u64()))});
  }
  return watermark;
}

}  // namespace

MergedWatermark of_new_log(const std::optional<MergedWatermark>& old) {
  MergedWatermark watermark = old.value_or(MergedWatermark{});
  watermark.offset = Offset(0);
  watermark.ahead.clear();
  return watermark;
}

bool MergedWatermark::covers(OffsetRange range) const {
  if (range.to <= range.from || range.to <= offset) return true;
  return std::any_of(ahead.begin(), ahead.end(),
                     [&](const OffsetRange& merged) { return merged.from <= range.from && range.to <= merged.to; });
}

bool MergedWatermark::add(OffsetRange range, HourIndex last_hour) {
  if (covers(range)) return true;
  // The ranges that touch the new one become part of it.
  const auto first = std::find_if(ahead.begin(), ahead.end(), [&](const OffsetRange& r) { return r.to >= range.from; });
  auto last = first;
  for (; last != ahead.end() && last->from <= range.to; ++last) {
    range.from = std::min(range.from, last->from);
    range.to = std::max(range.to, last->to);
  }
  if (range.from <= offset) {
    offset = range.to;
    hour = std::max(hour, last_hour);
    ahead.erase(ahead.begin(), last);
    return true;
  }
  if (first == last && ahead.size() == kAheadMax) return false;
  ahead.insert(ahead.erase(first, last), range);
  return true;
}

std::string encode_watermark(const MergedWatermark& watermark, PartitionId partition, uint32_t partition_count) {
  BLOOMRING_CHECK(well_formed(watermark), "a watermark that add() would not make");
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u32(partition_count);
  writer.u64(static_cast<uint64_t>(watermark.offset.value));
  writer.u64(static_cast<uint64_t>(watermark.hour.value));
  writer.u64(static_cast<uint64_t>(watermark.merged_ms.value_or(0)));
  writer.u64(static_cast<uint64_t>(watermark.slot_ms));
  writer.u8(static_cast<uint8_t>(watermark.ahead.size()));
  for (const OffsetRange& range : watermark.ahead) {
    writer.u64(static_cast<uint64_t>(range.from.value));
    writer.u64(static_cast<uint64_t>(range.to.value));
  }
  append_labelled_sum(bytes, watermark_key(partition));
  return bytes;
}

Result<MergedWatermark> decode_watermark(std::string_view bytes, PartitionId partition, uint32_t partition_count) {
  const std::string what = "merged watermark of partition " + std::to_string(partition.value);
  const auto body = split_labelled_sum(bytes, watermark_key(partition));
  if (!body) return corrupt(what + ": checksum differs");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  if (version < kVersionWithoutTime || version > kVersion) {
    return corrupt(what + ": format version " + std::to_string(version) + " is not known");
  }
  const uint32_t stored_count = reader.u32();
  const MergedWatermark watermark = read_fields(reader, version);
  if (!reader.ok() || !reader.at_end() || !well_formed(watermark)) return corrupt(what + ": fields do not fit");
  if (stored_count != partition_count) {
    return invalid(what + " was written for " + std::to_string(stored_count) + " partitions, the configuration says " +
                   std::to_string(partition_count) +
                   ": set the old partition count again, or start with an empty "
                   "filter store and replay");
  }
  return watermark;
}

}  // namespace bloomring
