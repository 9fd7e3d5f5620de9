#include "schemas/forgotten.h"

#include <algorithm>

#include "schemas/event.h"
#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kItemBytesMin = sizeof(uint64_t) + 2;

bool is_time_or_none(int64_t time_ms) { return time_ms >= 0 && time_ms < kEventTimeEndMs; }

}  // namespace

std::vector<Forgotten::Item>::iterator Forgotten::place_of(ItemHash item) {
  return std::ranges::lower_bound(items_, item, {}, &Item::item);
}

const Forgotten::Item* Forgotten::find(ItemHash item) const {
  const auto place = std::ranges::lower_bound(items_, item, {}, &Item::item);
  return place != items_.end() && place->item == item ? &*place : nullptr;
}

int64_t Forgotten::newest_ms() const {
  int64_t newest_ms = std::max(everything_ms_, floor_ms_);
  for (const Item& item : items_) newest_ms = std::max(newest_ms, item.forgotten_ms);
  return newest_ms;
}

bool Forgotten::counts(ItemHash item, int64_t time_ms) const {
  if (!counts_after(time_ms, everything_ms_)) return false;
  const Item* known = find(item);
  return known == nullptr || counts_after(time_ms, known->forgotten_ms);
}

bool Forgotten::forget_everything(int64_t time_ms) {
  if (time_ms <= everything_ms_) return false;
  everything_ms_ = time_ms;
  std::erase_if(items_, [&](const Item& item) { return item.forgotten_ms <= time_ms; });
  return true;
}

bool Forgotten::forget_item(ItemHash item, int64_t time_ms) {
  if (time_ms <= everything_ms_ || time_ms <= floor_ms_) return false;
  const auto place = place_of(item);
  if (place != items_.end() && place->item == item) {
    if (time_ms <= place->forgotten_ms) return false;
    place->forgotten_ms = time_ms;
    if (place->played_ms <= time_ms) place->played_ms = 0;
    if (floor_ms_ != 0) raise_floor();
    return true;
  }
  if (items_.size() < kItemsMax) {
    items_.insert(place, {item, time_ms, 0});
    return true;
  }
  const auto least = least_item();
  const bool stays = std::pair(time_ms, item) > std::pair(least->forgotten_ms, least->item);
  if (stays) {
    items_.erase(least);
    items_.insert(place_of(item), {item, time_ms, 0});
  }
  return raise_floor() || stays;
}

std::vector<Forgotten::Item>::iterator Forgotten::least_item() {
  return std::ranges::min_element(items_, {}, [](const Item& item) { return std::pair(item.forgotten_ms, item.item); });
}

// Dropped items are at or before the least kept one. `floor_ms` refuses forgets of earlier times. For those of the same
// time the bound does it: while the least item is kept there is no room.
bool Forgotten::raise_floor() {
  if (items_.size() < kItemsMax) return false;
  const int64_t before_ms = least_item()->forgotten_ms - 1;
  if (before_ms <= floor_ms_) return false;
  floor_ms_ = before_ms;
  return true;
}

bool Forgotten::take_play(ItemHash item, int64_t time_ms, bool& changed) {
  if (!counts_after(time_ms, everything_ms_)) return false;
  const auto place = place_of(item);
  if (place == items_.end() || place->item != item) return true;
  if (!counts_after(time_ms, place->forgotten_ms)) return false;
  if (time_ms > place->played_ms) {
    place->played_ms = time_ms;
    changed = true;
  }
  return true;
}

void Forgotten::expire(const std::function<bool(int64_t time_ms)>& expired) {
  if (everything_ms_ != 0 && expired(everything_ms_)) everything_ms_ = 0;
  if (floor_ms_ != 0 && expired(floor_ms_)) floor_ms_ = 0;
  std::erase_if(items_, [&](const Item& item) { return expired(item.forgotten_ms); });
}

class ForgottenDecoder {
 public:
  explicit ForgottenDecoder(std::string_view store_key) : store_key_(store_key) {}

  Result<Forgotten> decode(std::string_view bytes);
  Result<Forgotten> salvage(std::string_view bytes);

 private:
  // True for a sound value of another version: its sum proves that it is not damaged.
  bool of_another_version(std::string_view bytes) const;

  const std::string_view store_key_;
};

bool ForgottenDecoder::of_another_version(std::string_view bytes) const {
  const auto body = split_labelled_sum(bytes, store_key_);
  return body && !body->empty() && static_cast<uint8_t>(body->front()) != kVersion;
}

Result<Forgotten> ForgottenDecoder::decode(std::string_view bytes) {
  if (bytes.size() < kLabelledSumBytes) return corrupt("bytes are missing");
  const auto body = split_labelled_sum(bytes, store_key_);
  if (!body) return corrupt("checksum differs");
  ByteReader in(*body);
  if (const uint8_t version = in.u8(); version != kVersion)
    return corrupt("version " + std::to_string(version) + " is not known to this program");
  Forgotten forgotten;
  forgotten.everything_ms_ = static_cast<int64_t>(in.varint());
  forgotten.floor_ms_ = static_cast<int64_t>(in.varint());
  bool sound = is_time_or_none(forgotten.everything_ms_) && is_time_or_none(forgotten.floor_ms_);
  const uint64_t items = in.varint();
  if (items > Forgotten::kItemsMax || items > in.left() / kItemBytesMin)
    return corrupt("number of items is not possible");
  for (uint64_t i = 0; i < items; ++i) {
    Forgotten::Item item;
    item.item = ItemHash(in.u64());
    item.forgotten_ms = static_cast<int64_t>(in.varint());
    const uint64_t later = in.varint();
    sound = sound && item.forgotten_ms > forgotten.everything_ms_ && item.forgotten_ms > forgotten.floor_ms_ &&
            item.forgotten_ms < kEventTimeEndMs && later < static_cast<uint64_t>(kEventTimeEndMs - item.forgotten_ms) &&
            (i == 0 || item.item > forgotten.items_.back().item);
    if (sound && later != 0) item.played_ms = item.forgotten_ms + static_cast<int64_t>(later);
    forgotten.items_.push_back(item);
  }
  if (!in.ok() || !in.at_end() || !sound) return corrupt("fields do not fit");
  return forgotten;
}

Result<Forgotten> ForgottenDecoder::salvage(std::string_view bytes) {
  Damage damage;
  const std::string_view part = is_damaged(bytes) ? open_damaged(bytes, damage) : bytes;
  Forgotten forgotten;
  if (auto decoded = decode(part); decoded.ok())
    forgotten = std::move(decoded).value();
  else if (of_another_version(part))
    return decoded.status();
  else if (!part.empty() || !is_damaged(bytes))
    damage.note(decoded.status().message());
  forgotten.damage_ = std::move(damage);
  return forgotten;
}

std::string encode_forgotten(const Forgotten& forgotten, std::string_view store_key) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.varint(static_cast<uint64_t>(forgotten.everything_ms()));
  writer.varint(static_cast<uint64_t>(forgotten.floor_ms()));
  writer.varint(forgotten.items().size());
  for (const Forgotten::Item& item : forgotten.items()) {
    writer.u64(item.item.value);
    writer.varint(static_cast<uint64_t>(item.forgotten_ms));
    writer.varint(item.played_ms == 0 ? 0 : static_cast<uint64_t>(item.played_ms - item.forgotten_ms));
  }
  append_labelled_sum(bytes, store_key);
  return forgotten.damaged() ? encode_damaged(forgotten.damage(), bytes) : bytes;
}

Result<Forgotten> decode_forgotten(std::string_view bytes, std::string_view store_key) {
  BLOOMRING_TRY(check_stored(bytes, store_key));
  auto decoded = ForgottenDecoder(store_key).decode(bytes);
  if (!decoded.ok()) return std::move(decoded).status().with_context(describe_store_key(store_key));
  return decoded;
}

Result<Forgotten> salvage_forgotten(std::string_view bytes, std::string_view store_key) {
  auto salvaged = ForgottenDecoder(store_key).salvage(bytes);
  if (!salvaged.ok()) return std::move(salvaged).status().with_context(describe_store_key(store_key));
  return salvaged;
}

}  // namespace bloomring
