#include "schemas/damaged_value.h"

#include <algorithm>
#include <limits>

#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {
constexpr uint8_t kDamagedMark = 0x00;
constexpr size_t kReasonBytesMax = 200;
}  // namespace

void Damage::note_known(uint64_t count, std::string_view why) {
  refused += std::min(count, std::numeric_limits<uint64_t>::max() - refused);
  if (reason.empty()) reason = why.substr(0, kReasonBytesMax);
}

void Damage::note(std::string_view why) {
  note_known(1, why);
  ++fresh;
}

bool is_damaged(std::string_view value) { return !value.empty() && static_cast<uint8_t>(value[0]) == kDamagedMark; }

std::string encode_damaged(const Damage& damage, std::string_view good) {
  std::string value;
  ByteWriter writer(value);
  writer.u8(kDamagedMark);
  writer.varint(damage.refused);
  writer.bytes(damage.reason);
  writer.raw(good);
  return value;
}

std::string_view open_damaged(std::string_view value, Damage& damage) {
  ByteReader reader(value.substr(1));
  const uint64_t refused = reader.varint();
  const std::string_view reason = reader.bytes();
  const std::string_view good = reader.raw(reader.left());
  if (!reader.ok() || refused == 0) {  // No encoder wrote these bytes.
    damage.note("damaged beyond reading");
    return {};
  }
  damage.note_known(refused, reason);
  return good;
}

Status check_stored(std::string_view value, std::string_view store_key) {
  if (!is_damaged(value)) return {};
  Damage damage;
  const std::string_view good = open_damaged(value, damage);
  return corrupt(describe_store_key(store_key) + ": " + std::to_string(damage.refused) +
                 " part(s) of it were refused (" + damage.reason + ")" + (good.empty() ? "" : "; the rest is kept") +
                 "; restore a backup of the filter store in which `bloomring store check` finds it sound");
}

}  // namespace bloomring
