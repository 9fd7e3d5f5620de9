#include "serving/play_table.h"

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

PlayTable::Entry& PlayTable::find_or_add(uint64_t user_hash) {
  if (users_ * 4 >= entries_.size() * 3) grow();
  const size_t mask = entries_.size() - 1;
  size_t at = home(user_hash);
  while (entries_[at].head != 0 && entries_[at].user_hash != user_hash) at = (at + 1) & mask;
  return entries_[at];
}

// A chunk never straddles two pages, so its items are contiguous.
uint32_t PlayTable::allocate(uint32_t words) {
  if (next_word_ % kPageWords + words > kPageWords) next_word_ = (next_word_ / kPageWords + 1) * kPageWords;
  BLOOMRING_CHECK(next_word_ <= std::numeric_limits<uint32_t>::max() - words, "a stripe of recent plays exceeds 32 GiB");
  if (next_word_ / kPageWords == pages_.size()) pages_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kPageWords));
  const uint32_t at = next_word_;
  next_word_ += words;
  return at;
}

void PlayTable::insert(uint64_t user_hash, ItemHash item, PeriodIndex period) {
  Entry& entry = find_or_add(user_hash);
  const auto period16 = static_cast<uint16_t>(period.value);
  uint32_t words = 4;
  if (entry.head != 0) {
    auto header = std::bit_cast<Header>(word(entry.head));
    if (header.period == period16) {
      if (header.items + 1u < header.words) {
        ++header.items;
        word(entry.head) = std::bit_cast<uint64_t>(header);
        word(entry.head + header.items) = item.value;
        return;
      }
      words = std::min<uint32_t>(header.words * 2u, kChunkWordsMax);
    }
  } else {
    entry.user_hash = user_hash;
    ++users_;
  }
  const uint32_t at = allocate(words);
  word(at) = std::bit_cast<uint64_t>(Header{entry.head, period16, static_cast<uint8_t>(words), 1});
  word(at + 1) = item.value;
  entry.head = at;
}

void PlayTable::collect(uint64_t user_hash, PeriodIndex oldest, std::vector<RecentPlay>& out) const {
  if (entries_.empty()) return;
  const size_t mask = entries_.size() - 1;
  size_t at = home(user_hash);
  while (entries_[at].head != 0 && entries_[at].user_hash != user_hash) at = (at + 1) & mask;
  for (uint32_t chunk = entries_[at].head; chunk != 0;) {
    const auto header = std::bit_cast<Header>(word(chunk));
    const PeriodIndex period(header.period);
    for (uint32_t i = header.items; period >= oldest && i > 0; --i) out.push_back({ItemHash(word(chunk + i)), period});
    chunk = header.next;
  }
}

}  // namespace bloomring
