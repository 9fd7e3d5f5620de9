// Counters of a stage, summed over its tasks when they are scraped: the counts of the live tasks so far, and the last
// counts of those that ended.
//
//   Totals<WindowCounts> totals(metrics, window_series());
//   Totals<WindowCounts>::Share share = totals.share();  // One for each task, for as long as the task lives.
//   share.set({...});                                    // The counts since the task began, now and then.
//
// Guarantees: every row is shown, with 0, from the beginning. A sum never falls: a share that ends leaves its last
// counts, and the task that follows it begins at 0 with a share of its own.
// Threading: thread safe. A share belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/metrics/metrics.h"
#include "base/metrics/series_table.h"

namespace bloomring {

template <typename Stats>
class Totals {
 public:
  // Counters are scraped in the order in which their Totals and other callbacks were made (Metrics::on_scrape).
  // `metrics` outlives it.
  Totals(Metrics& metrics, SeriesTable<Stats> table)
      : table_(std::move(table)),
        ended_(table_.size()),
        registration_(metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

  // The Totals outlive it.
  class [[nodiscard]] Share {
   public:
    Share() = default;  // Counts nothing.
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(totals_, other.totals_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Share() {
      if (totals_ != nullptr) totals_->end(id_);
    }
    // No count may be less than it was at the last call.
    void set(const Stats& stats) {
      if (totals_ != nullptr) totals_->set(id_, stats);
    }

   private:
    friend class Totals;
    Share(Totals& totals, uint64_t id) : totals_(&totals), id_(id) {}
    Totals* totals_ = nullptr;
    uint64_t id_ = 0;
  };
  Share share() {
    const std::lock_guard lock(mutex_);
    return Share(*this, next_id_++);
  }

 private:
  void set(uint64_t id, const Stats& stats) {
    const std::lock_guard lock(mutex_);
    live_[id] = stats;
  }

  void end(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) return;
    for (size_t row = 0; row < table_.size(); ++row) ended_[row] += table_[row].number(found->second);
    live_.erase(found);
  }

  void write(Scrape& scrape) const {
    const std::lock_guard lock(mutex_);
    for (size_t row = 0; row < table_.size(); ++row) {
      double sum = ended_[row];
      for (const auto& [id, stats] : live_) sum += table_[row].number(stats);
      scrape.write_series(*table_[row].decl, table_[row].labels, sum);
    }
  }

  const SeriesTable<Stats> table_;
  mutable std::mutex mutex_;
  std::vector<double> ended_;  // By row.
  std::map<uint64_t, Stats> live_;
  uint64_t next_id_ = 1;
  Metrics::Registration registration_;  // Last: its callback uses the rest.
};

}  // namespace bloomring
