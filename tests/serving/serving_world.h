// The read side of one partition on a manual clock: a log, a filter store, a held partition, the query core.
//
//   ServingWorld world;
//   world.play("u1", "v1");
//   world.merge();
//   CHECK(world.seen("u1", "v1") == "filter 2026-11");
//
// One partition, so that every user lives in it. Time starts on 2026-11-21 08:00 UTC; each play is a record of its own.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "schemas/event_block.h"
#include "serving/candidate_filter.h"
#include "serving/held_partition.h"
#include "tests/serving/filter_store_double.h"

namespace bloomring {

inline constexpr int64_t kStartMs = 1'795'248'000'000;  // 2026-11-21 08:00:00 UTC.
inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kLapMs = 6 * kHourMs;
inline constexpr PartitionId kOnly{0};

inline Calendar utc_months() { return Calendar::create({}).value(); }

inline std::vector<ItemHash> hash_all(const std::vector<std::string>& items) {
  std::vector<ItemHash> hashes;
  for (const std::string& item : items) hashes.push_back(item_hash(item));
  return hashes;
}

class ServingWorld {
 public:
  explicit ServingWorld(const RecentPlaysConfig& recents = {}, const CandidateFilterConfig& config = {})
      : clock(kStartMs), core(store, utc_months(), clock, config),
        partition(std::make_shared<HeldPartition>(kOnly, recents, utc_months(), Offset(0))) {
    partition->set_ready();
    partition->set_fresh_at_ms(kStartMs);
  }

  // Appends one event to the log, now, and lets the partition apply it.
  void happen(EventKind kind, const std::string& user, const std::string& item, int64_t event_time_ms) {
    const UserKey key("", user);
    EventBlockBuilder builder;
    builder.add(key.bytes(), user_hash(key.bytes()), {kind, item_hash(item), event_time_ms});
    const std::string bytes = builder.finish(kOnly, 1);
    EventBlockReader block = EventBlockReader::open(bytes, kOnly, 1).value();
    partition->apply(Offset(log_end_), clock.now_ms(), block);
    partition->set_fresh_at_ms(clock.now_ms());
    if (kind == EventKind::kPlay) unmerged_.push_back({key, item_hash(item), utc_months().period_of_ms(event_time_ms)});
    ++log_end_;
  }
  void play(const std::string& user, const std::string& item) { happen(EventKind::kPlay, user, item, clock.now_ms()); }
  void serve(const std::string& user, const std::string& item) { happen(EventKind::kServe, user, item, clock.now_ms()); }
  void play_at(const std::string& user, const std::string& item, int64_t event_time_ms) {
    happen(EventKind::kPlay, user, item, event_time_ms);
  }

  // Merges everything in the log into the store and writes the watermark.
  void merge() {
    for (const Unmerged& play : unmerged_) {
      const FilterUpdate update{play.key.bytes(), play.period, std::span(&play.item, 1)};
      BLOOMRING_CHECK(store.apply(std::span(&update, 1)).ok(), "the double does not fail here");
    }
    unmerged_.clear();
    watermark.offset = Offset(log_end_);
    BLOOMRING_CHECK(store.advance(kOnly, watermark).ok(), "the double does not fail here");
  }
  // The partition reads the watermark and lets go what is merged and a lap old.
  void release() { partition->release(watermark, clock.now_ms() - kLapMs); }
  void advance_hours(int64_t hours) {
    clock.advance_ms(hours * kHourMs);
    partition->set_fresh_at_ms(clock.now_ms());
  }

  FilterAnswer ask(const std::string& user, const std::vector<std::string>& items) {
    const std::vector<ItemHash> ids = hash_all(items);
    return core.answer(*partition, {UserKey("", user).bytes(), ids, {}, {}});
  }
  // "recent", "filter 2026-11", "unseen".
  std::string seen(const std::string& user, const std::string& item) { return text(ask(user, {item}), 0); }

  std::string text(const FilterAnswer& answer, size_t candidate) const {
    const Verdict verdict = answer.verdict(candidate);
    if (!verdict.seen) return "unseen";
    const std::string reason(reason_name(verdict.reason));
    return verdict.reason == Reason::kFilter ? reason + " " + core.calendar().name(answer.periods[verdict.period]) : reason;
  }

  int64_t log_end() const { return log_end_; }

  ManualClock clock;
  FilterStoreDouble store;
  CandidateFilter core;
  std::shared_ptr<HeldPartition> partition;
  MergedWatermark watermark;

 private:
  struct Unmerged {
    UserKey key;
    ItemHash item;
    PeriodIndex period;
  };
  std::vector<Unmerged> unmerged_;
  int64_t log_end_ = 0;
};

}  // namespace bloomring
