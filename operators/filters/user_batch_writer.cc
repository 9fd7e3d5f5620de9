#include "operators/filters/user_batch_writer.h"

#include <algorithm>

namespace bloomring {

namespace {

// Upper bounds of the sizes of a batch's pieces (docs/formats.md, "User batches").
constexpr size_t kUserBytesMax = 2 + 5 + 5;         // Besides the key: its length, numbers of forgets and of quarters.
constexpr size_t kForgetBytesMax = 1 + 8 + 7 + 10;  // Kind, item, time, offset.
constexpr size_t kPlayBytesMax = 8 + 3;             // Item, ms into the quarter.
constexpr size_t kQuarterBytesMax = 4 + 5;          // Difference, number of items.

size_t bytes_max(std::string_view user_key, size_t forgets, size_t plays, size_t quarters) {
  return user_key.size() + kUserBytesMax + forgets * kForgetBytesMax + plays * kPlayBytesMax +
         quarters * kQuarterBytesMax;
}

// The user's forgets in the order of Forget: of single items, of late ones, of everything.
struct SortedForgets {
  explicit SortedForgets(std::span<const Forget> all) {
    const auto late = std::ranges::partition_point(all, [](const auto& f) { return !f.everything && !f.late; });
    const auto everything = std::ranges::partition_point(all, [](const auto& f) { return !f.everything; });
    of_item[0] = {all.begin(), late};
    of_item[1] = {late, everything};
    of_everything = {everything, all.end()};
  }
  // Appends all forgets of the item: one may reach farther than a later one (SlotDrain::sort_forgets).
  void find(ItemHash item, std::vector<Forget>& out) const {
    for (const auto& forgets : of_item) {
      auto next = std::ranges::lower_bound(forgets, item, {}, &Forget::item);
      for (; next != forgets.end() && next->item == item; ++next) out.push_back(*next);
    }
  }
  std::span<const Forget> of_item[2];
  std::span<const Forget> of_everything;
};

}  // namespace

UserBatchWriter::UserBatchWriter(DrainHeader header, size_t record_bytes_max)
    : header_(header), record_bytes_max_(record_bytes_max) {}

void UserBatchWriter::add(std::string_view user_key, std::span<const Forget> forgets,
                          std::span<const DrainedPlay> plays, std::vector<std::string>& records) {
  if (bytes_max(user_key, forgets.size(), plays.size(), plays.size()) <= record_bytes_max_) {
    add_piece(user_key, forgets, plays);
  } else {
    close(records);
    add_forgets(user_key, forgets, records);
    add_plays(user_key, forgets, plays, records);
  }
  if (builder_.bytes() >= record_bytes_max_) close(records);
}

void UserBatchWriter::add_forgets(std::string_view user_key, std::span<const Forget> forgets,
                                  std::vector<std::string>& records) {
  const size_t most = std::max<size_t>(1, record_bytes_max_ / kForgetBytesMax);
  for (; !forgets.empty(); forgets = forgets.subspan(std::min(most, forgets.size()))) {
    close(records);
    add_piece(user_key, forgets.first(std::min(most, forgets.size())), {});
  }
}

void UserBatchWriter::add_plays(std::string_view user_key, std::span<const Forget> forgets,
                                std::span<const DrainedPlay> plays, std::vector<std::string>& records) {
  const SortedForgets sorted(forgets);
  while (!plays.empty()) {
    piece_forgets_.assign(sorted.of_everything.begin(), sorted.of_everything.end());
    size_t count = 0, quarters = 0;
    const auto full = [&] {
      return count > 0 && bytes_max(user_key, piece_forgets_.size(), count, quarters) >= record_bytes_max_;
    };
    for (; count < plays.size() && !full(); ++count) {
      quarters += count == 0 || plays[count].quarter != plays[count - 1].quarter;
      sorted.find(plays[count].item, piece_forgets_);
    }
    std::ranges::sort(piece_forgets_);
    piece_forgets_.erase(std::unique(piece_forgets_.begin(), piece_forgets_.end()), piece_forgets_.end());
    close(records);
    add_piece(user_key, piece_forgets_, plays.first(count));
    plays = plays.subspan(count);
  }
}

void UserBatchWriter::add_piece(std::string_view user_key, std::span<const Forget> forgets,
                                std::span<const DrainedPlay> plays) {
  builder_.add(user_key, forgets, plays);
  ++batches_;
}

void UserBatchWriter::close(std::vector<std::string>& records) {
  if (builder_.users() == 0) return;
  std::string record = builder_.finish(header_);
  const uint64_t digest = record_digest(record);
  if (!written_.insert(digest).second) return;
  digest_ += digest;
  records.push_back(std::move(record));
}

}  // namespace bloomring
