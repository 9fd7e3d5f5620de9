#include "schemas/store/store_meta.h"

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 2;
constexpr uint8_t kVersionWithoutPeriod = 1;
constexpr uint8_t kVersionOfImport = 3;

bool known(PeriodUnit period) {
  return period == PeriodUnit::kMonth || period == PeriodUnit::kWeek || period == PeriodUnit::kDay;
}

}  // namespace

std::string encode_store_meta(const StoreMeta& meta) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(meta.import_id == 0 ? kVersion : kVersionOfImport);
  writer.u32(meta.partition_count);
  writer.u8(static_cast<uint8_t>(meta.period));
  writer.bytes(meta.time_zone);
  if (meta.import_id != 0) writer.u64(meta.import_id);
  append_labelled_sum(bytes, kMetaKey);
  return bytes;
}

Result<StoreMeta> decode_store_meta(std::string_view bytes) {
  const auto body = split_labelled_sum(bytes, kMetaKey);
  if (!body || body->empty()) return corrupt("the description of the store is damaged");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  if (version > kVersionOfImport) {
    return invalid("the store has format version " + std::to_string(version) + ", this program knows " +
                   std::to_string(kVersionOfImport) + ": use the program that wrote it, or a newer one");
  }
  StoreMeta meta;
  meta.partition_count = reader.u32();
  if (version != kVersionWithoutPeriod) {
    meta.period = static_cast<PeriodUnit>(reader.u8());
    meta.time_zone = reader.bytes();
  }
  if (version == kVersionOfImport) meta.import_id = reader.u64();
  const bool said = version == kVersionWithoutPeriod || (known(meta.period) && !meta.time_zone.empty());
  const bool imports = (version == kVersionOfImport) == (meta.import_id != 0);
  if (version == 0 || !reader.ok() || !reader.at_end() || !said || !imports) {
    return corrupt("the description of the store has another form");
  }
  return meta;
}

}  // namespace bloomring
