// Any bytes as the forgets of a user: refused with a reason, or exactly what the encoder would have written; whatever
// is forgotten afterwards can be stored and read again, and a damaged value keeps its good part.
#include "base/result.h"
#include "schemas/event.h"
#include "schemas/forgotten.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

namespace {

const std::string kKey = forgotten_key(UserKey("feed", "u1").bytes());

Forgotten read_back(const Forgotten& forgotten) {
  auto again = salvage_forgotten(encode_forgotten(forgotten, kKey), kKey);
  BLOOMRING_CHECK(again.ok(), "what was written can be read");
  return std::move(again).value();
}

// One change: what it is (1 byte), the item (1 byte), the time (5 bytes).
void change(Forgotten& forgotten, ByteReader& in) {
  const uint8_t what = in.u8() % 4;
  const ItemHash item(in.u8());
  const int64_t time_ms = 1 + (in.u32() | static_cast<int64_t>(in.u8()) << 32) % (kEventTimeEndMs - 1);
  bool changed = false;
  if (what == 0) forgotten.forget_everything(time_ms);
  if (what == 1) forgotten.forget_item(item, time_ms);
  if (what == 2) forgotten.take_play(item, time_ms, changed);
  if (what == 3) forgotten.expire([&](int64_t forgotten_ms) { return forgotten_ms < time_ms; });
  if (what < 2) BLOOMRING_CHECK(!forgotten.counts(item, time_ms) || time_ms <= forgotten.floor_ms(), "it is forgotten");
}

void expect_reads_as_damaged(const Forgotten& good, std::string_view bytes) {
  Damage damage;
  damage.note("of the test");
  const std::string damaged = encode_damaged(damage, bytes);
  BLOOMRING_CHECK(decode_forgotten(damaged, kKey).code() == Code::kCorrupt, "a damaged value is refused");
  const auto salvaged = salvage_forgotten(damaged, kKey);
  BLOOMRING_CHECK(salvaged.ok() && salvaged->damaged(), "its damage is known");
  const bool kept = salvaged->items() == good.items() && salvaged->everything_ms() == good.everything_ms();
  BLOOMRING_CHECK(kept, "its good part is kept");
}

// As merge does with a value: it goes on with the good part, and writes that back.
void salvage_and_store(std::string_view bytes) {
  const auto salvaged = salvage_forgotten(bytes, kKey);
  if (salvaged.ok()) {
    BLOOMRING_CHECK(read_back(*salvaged).items() == salvaged->items(), "the good part is stored");
  } else {
    BLOOMRING_CHECK(salvaged.code() == Code::kCorrupt && !salvaged.status().message().empty(), "refused with a reason");
  }
}

}  // namespace

// Number of changes (1 byte), the changes, the value without its sum.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in({reinterpret_cast<const char*>(data), size});
  const std::string_view change_bytes = in.raw(std::min<size_t>(in.left(), in.u8() % 16 * 7));
  const std::string_view body = in.raw(in.left());
  salvage_and_store(body);
  const std::string bytes = summed(body, kKey);
  salvage_and_store(bytes);
  auto decoded = decode_forgotten(bytes, kKey);
  if (!decoded.ok()) {
    BLOOMRING_CHECK(decoded.code() == Code::kCorrupt && !decoded.status().message().empty(), "refused with a reason");
    return 0;
  }
  BLOOMRING_CHECK(encode_forgotten(*decoded, kKey) == bytes, "a value has exactly one coding");
  expect_reads_as_damaged(*decoded, bytes);
  Forgotten forgotten = std::move(decoded).value();
  for (ByteReader changes(change_bytes); !changes.at_end();) change(forgotten, changes);
  BLOOMRING_CHECK(read_back(forgotten) == forgotten, "what was changed can be stored");
  return 0;
}
