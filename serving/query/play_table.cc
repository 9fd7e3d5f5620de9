#include "serving/query/play_table.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/result.h"

namespace bloomring {

void PlayTable::grow() {
  std::vector<Entry> old = std::move(entries_);
  entries_ = std::vector<Entry>(std::max(kEntriesMin, old.size() * 2));
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(entries_.size()));
  const size_t mask = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.head == 0) continue;
    size_t at = home(entry.user_hash);
    while (entries_[at].head != 0) at = (at + 1) & mask;
    entries_[at] = entry;
  }
}

PlayTable::Entry& PlayTable::find_or_add(PlacedUser user) {
  if (users_ * 4 >= entries_.size() * 3) grow();
  const size_t mask = entries_.size() - 1;
  size_t at = home(user);
  while (entries_[at].head != 0 && entries_[at].user_hash != user.hash) at = (at + 1) & mask;
  return entries_[at];
}

// A chunk never straddles two pages, so its items are contiguous.
uint32_t PlayTable::allocate(uint32_t words) {
  if (next_word_ % kPageWords + words > kPageWords) next_word_ = (next_word_ / kPageWords + 1) * kPageWords;
  BLOOMRING_CHECK(next_word_ <= std::numeric_limits<uint32_t>::max() - words,
                  "a stripe of recent plays exceeds 32 GiB");
  if (next_word_ / kPageWords == pages_.size())
    pages_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kPageWords));
  const uint32_t at = next_word_;
  next_word_ += words;
  return at;
}

// Writes the last play that the header counts.
void PlayTable::put(uint32_t chunk, const Header& header, ItemHash item, int64_t time_ms) {
  const uint32_t at = header.plays - 1u;
  word(chunk) = std::bit_cast<uint64_t>(header);
  word(chunk + 1 + at) = item.value;
  uint64_t& times = word(chunk + 1 + header.room + at / 2);
  const uint64_t low = static_cast<uint32_t>(time_ms);
  times = at % 2 == 0 ? low : times | low << 32;
}

void PlayTable::insert(PlacedUser user, ItemHash item, int64_t time_ms) {
  Entry& entry = find_or_add(user);
  if (entry.plays == kIndexed) return insert_indexed(entry, item, time_ms);
  if (entry.plays == kChunkedPlaysMax) {
    index(entry);
    return insert_indexed(entry, item, time_ms);
  }
  ++entry.plays;
  const auto era = static_cast<uint16_t>(time_ms >> 32);
  uint32_t room = kChunkPlaysMin;
  if (entry.head != 0) {
    auto header = std::bit_cast<Header>(word(entry.head));
    if (header.era == era) {
      if (header.plays < header.room) {
        ++header.plays;
        return put(entry.head, header, item, time_ms);
      }
      room = std::min<uint32_t>(header.room * 2u, kChunkPlaysMax);
    }
  } else {
    entry.user_hash = user.hash;
    ++users_;
  }
  const uint32_t chunk = allocate(words_of(room));
  put(chunk, Header{entry.head, era, static_cast<uint8_t>(room), 1}, item, time_ms);
  entry.head = chunk;
}

// The chunks stay in the arena: about 25 KB.
void PlayTable::index(Entry& entry) {
  std::vector<RecentPlay> plays;
  collect_chunks(entry.head, plays);
  indexed_.push_back(std::make_unique<ItemTimes>());
  indexed_bytes_ += indexed_.back()->bytes();
  entry.head = static_cast<uint32_t>(indexed_.size());
  entry.plays = kIndexed;
  for (const RecentPlay& play : plays) insert_indexed(entry, play.item, play.time_ms);
}

void PlayTable::insert_indexed(const Entry& entry, ItemHash item, int64_t time_ms) {
  ItemTimes& items = *indexed_[entry.head - 1];
  indexed_bytes_ -= items.bytes();
  items.insert(item, time_ms);
  indexed_bytes_ += items.bytes();
}

const PlayTable::Entry* PlayTable::find(PlacedUser user) const {
  if (entries_.empty()) return nullptr;
  const size_t mask = entries_.size() - 1;
  size_t at = home(user);
  while (entries_[at].head != 0 && entries_[at].user_hash != user.hash) at = (at + 1) & mask;
  return entries_[at].head == 0 ? nullptr : &entries_[at];
}

size_t PlayTable::longest_search() const {
  return longest_probe(
      entries_.size(), [&](size_t place) { return entries_[place].head != 0; },
      [&](size_t place) { return home(entries_[place].user_hash); });
}

const ItemTimes* PlayTable::indexed(PlacedUser user) const {
  const Entry* const entry = find(user);
  return entry != nullptr && entry->plays == kIndexed ? indexed_[entry->head - 1].get() : nullptr;
}

const ItemTimes* PlayTable::collect(PlacedUser user, std::vector<RecentPlay>& out) const {
  const Entry* const entry = find(user);
  if (entry == nullptr) return nullptr;
  if (entry->plays == kIndexed) return indexed_[entry->head - 1].get();
  collect_chunks(entry->head, out);
  return nullptr;
}

void PlayTable::collect_chunks(uint32_t chunk, std::vector<RecentPlay>& out) const {
  while (chunk != 0) {
    const auto header = std::bit_cast<Header>(word(chunk));
    const int64_t era_ms = static_cast<int64_t>(header.era) << 32;
    for (uint32_t i = header.plays; i-- > 0;) {
      const uint64_t times = word(chunk + 1 + header.room + i / 2);
      const auto low = static_cast<uint32_t>(i % 2 == 0 ? times : times >> 32);
      out.push_back({ItemHash(word(chunk + 1 + i)), era_ms + low, {}});
    }
    chunk = header.next;
  }
}

}  // namespace bloomring
