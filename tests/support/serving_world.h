// The read side of one partition on a manual clock: a log, a filter store, a held partition, the query core.
//
//   ServingWorld world;
//   world.play("u1", "v1");
//   world.merge();
//   CHECK(world.seen("u1", "v1") == "filter 2026-11");
//
// One partition, so that every user lives in it. Time starts on 2026-11-21 08:00 UTC; each play is a record of its own.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/replica_partition.h"
#include "tests/serving/query/filter_store_double.h"
#include "tests/support/manual_clock.h"

namespace bloomring {

inline constexpr int64_t kStartMs = 1'795'248'000'000;  // 2026-11-21 08:00:00 UTC.
inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;
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
      : clock(kStartMs),
        core(store, utc_months(), clock, config),
        partition(std::make_shared<ReplicaPartition>(kOnly, recents, utc_months(), Offset(0))) {
    partition->set_ready();
    partition->set_fresh_at_ns(clock.steady_ns());
  }

  // Appends one event to the log, now, and lets the partition apply it.
  void happen(EventKind kind, const std::string& user, const std::string& item, int64_t event_time_ms) {
    const ItemHash hash = kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item);
    append(UserKey("", user), {{kind, hash, event_time_ms}});
  }
  void play_in(const std::string& scene, const std::string& user, const std::string& item) {
    append(UserKey(scene, user), {{EventKind::kPlay, item_hash(item), log_now_ms()}});
  }
  // Plays all of the items at one time, in records of a thousand plays.
  void play_all(const std::string& user, const std::vector<ItemHash>& items, int64_t event_time_ms) {
    std::vector<Event> events;
    for (const ItemHash item : items) {
      events.push_back({EventKind::kPlay, item, event_time_ms});
      if (events.size() == 1'000) append(UserKey("", user), std::exchange(events, {}));
    }
    if (!events.empty()) append(UserKey("", user), events);
  }
  void play(const std::string& user, const std::string& item) { happen(EventKind::kPlay, user, item, log_now_ms()); }
  void serve(const std::string& user, const std::string& item) {
    happen(EventKind::kServe, user, item, log_now_ms());
  }
  void forget(const std::string& user, const std::string& item) {
    happen(EventKind::kForget, user, item, log_now_ms());
  }
  void forget_all(const std::string& user) { happen(EventKind::kForgetAll, user, "", log_now_ms()); }
  void play_at(const std::string& user, const std::string& item, int64_t event_time_ms) {
    happen(EventKind::kPlay, user, item, event_time_ms);
  }

  // Merges everything in the log into the store, as the merge stage does, and writes the watermark.
  void merge() {
    std::stable_partition(unmerged_.begin(), unmerged_.end(),
                          [](const Unmerged& one) { return is_forget(one.event.kind); });
    std::map<std::pair<UserKey, PeriodIndex>, std::vector<ItemHash>> plays;
    for (const Unmerged& one : unmerged_) {
      const PeriodIndex period = core.calendar().period_of_ms(one.event.time_ms);
      if (merge(one.key.bytes(), one.event, period)) plays[{one.key, period}].push_back(one.event.item);
    }
    for (const auto& [filter, items] : plays) {
      const FilterUpdate update{filter.first.bytes(), filter.second, items};
      BLOOMRING_CHECK(store.apply(std::span(&update, 1)).ok(), "the double does not fail here");
    }
    unmerged_.clear();
    watermark.offset = Offset(log_end_);
    watermark.merged_ms = log_now_ms();
    BLOOMRING_CHECK(store.advance(kOnly, watermark).ok(), "the double does not fail here");
  }
  // The partition reads the watermark and lets go what is merged and a lap old.
  void release() { partition->release(watermark, log_now_ms() - kLapMs); }
  void advance_hours(int64_t hours) {
    clock.advance_ms(hours * kHourMs);
    partition->set_fresh_at_ns(clock.steady_ns());
  }

  // As the service reads filters that are not cached.
  std::shared_ptr<const UserFilters> read(const std::string& user_key, const UserLookup& lookup) {
    return core.keep(user_key, lookup, read_now(store, user_key, lookup.periods)).value();
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
    return verdict.reason == Reason::kFilter ? reason + " " + core.calendar().name(answer.periods[verdict.period])
                                             : reason;
  }

  int64_t log_end() const { return log_end_; }
  // By the brokers' clock, which is right.
  int64_t log_now_ms() const { return clock.steady_ns() / 1'000'000; }

  ManualClock clock;
  FilterStoreDouble store;
  CandidateFilter core;
  std::shared_ptr<ReplicaPartition> partition;
  MergedWatermark watermark;

 private:
  struct Unmerged {
    UserKey key;
    Event event;
  };
  // One record.
  void append(const UserKey& key, const std::vector<Event>& events) {
    EventBlockBuilder builder;
    for (const Event& event : events) {
      builder.add(key.bytes(), event);
      if (event.kind != EventKind::kServe) unmerged_.push_back({key, event});
    }
    const std::string bytes = builder.finish(kOnly, 1);
    EventBlockReader block = EventBlockReader::open(bytes, kOnly, 1).value();
    partition->log_time().saw(log_now_ms(), clock.steady_ns());
    partition->apply(Offset(log_end_), log_now_ms(), block);
    partition->set_fresh_at_ns(clock.steady_ns());
    ++log_end_;
  }
  // Writes what is forgotten by it. True for a play that counts.
  bool merge(std::string_view key, const Event& event, PeriodIndex period) {
    std::vector<Forgotten> forgotten;
    const UserRef user = key;
    BLOOMRING_CHECK(store.read_forgotten(std::span(&user, 1), forgotten).ok(), "the double does not fail here");
    ForgottenUpdate update{key, forgotten[0], PeriodIndex(0), PeriodIndex(0)};
    bool changed = false, counts = false;
    if (event.kind == EventKind::kForgetAll) {
      update.removed_to = PeriodIndex(update.forgotten.forget_everything(event.time_ms) ? period.value + 1 : 0);
    } else if (event.kind == EventKind::kForget) {
      update.forgotten.forget_item(event.item, event.time_ms);
    } else {
      counts = update.forgotten.take_play(event.item, event.time_ms, changed);
    }
    BLOOMRING_CHECK(store.apply(std::span(&update, 1), {}).ok(), "the double does not fail here");
    return counts;
  }
  std::vector<Unmerged> unmerged_;
  int64_t log_end_ = 0;
};

}  // namespace bloomring
