// A filter store in memory for the read side's tests, with the faults that a store can have.
//
// Wraps the real interface; filters are real values (state/filter). Each injected fault is marked FAULT.
// Thread safe.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/filter.h"
#include "state/store/local_filter_store.h"

namespace bloomring {

class FilterStoreDouble final : public LocalFilterStore {
 public:
  // FAULT: every read fails with kRetry.
  void fail_reads(bool fail) {
    std::lock_guard lock(mutex_);
    fail_ = fail;
  }
  // FAULT: reads wait until they are let go.
  void stall_reads(bool stall) {
    std::lock_guard lock(mutex_);
    stall_ = stall;
    changed_.notify_all();
  }
  // Returns once a read has begun.
  void wait_for_read() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reads_ > 0; });
  }
  // FAULT: changes one byte of every value.
  void damage_values() {
    std::lock_guard lock(mutex_);
    for (auto& [key, value] : values_) value[value.size() / 2] = static_cast<char>(value[value.size() / 2] ^ 1);
  }
  // From now on, values are made for this policy; those that are there were made for another one.
  void set_policy(const filter::Policy& policy) {
    std::lock_guard lock(mutex_);
    policy_ = policy;
  }
  // How many of the user's filters have the dense form.
  size_t count_dense(std::string_view user_key) const {
    std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::ranges::count_if(values_, [&](const auto& row) {
      const auto summary = filter::summarize(row.second, store_key(row.first));
      return row.first.first == user_key && summary.ok() && summary.value().form == filter::Summary::Form::kDense;
    }));
  }
  size_t reads() const {
    std::lock_guard lock(mutex_);
    return reads_;
  }

  using LocalFilterReader::read;
  using LocalFilterStore::apply;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override {
    std::lock_guard lock(mutex_);
    for (const ForgottenUpdate& update : forgotten) {
      std::erase_if(values_, [&](const auto& row) {
        const auto& [user_key, period] = row.first;
        return user_key == update.user.key && period >= update.removed_from && period < update.removed_to;
      });
      forgotten_[std::string(update.user.key)] = update.forgotten;
    }
    for (const FilterUpdate& update : updates) {
      const Key key(update.user.key, update.period);
      const std::string operand = filter::make(update.items, update.user.key, store_key(key), policy_);
      const auto stored = values_.find(key);
      std::vector<std::string_view> parts{operand};  // United also when alone: only what is stored can be dense.
      if (stored != values_.end()) parts.insert(parts.begin(), stored->second);
      BLOOMRING_TRY_ASSIGN(values_[key], filter::unite(parts, store_key(key), policy_, false));
    }
    return {};
  }
  Status sync() override { return {}; }
  Status advance(PartitionId partition, const MergedWatermark& watermark) override {
    std::lock_guard lock(mutex_);
    watermarks_[partition] = watermark;
    return {};
  }
  std::optional<int64_t> merged_ms() const override {
    std::lock_guard lock(mutex_);
    std::optional<int64_t> latest_ms;
    for (const auto& [partition, watermark] : watermarks_) latest_ms = std::max(latest_ms, watermark.merged_ms);
    return latest_ms;
  }
  Result<std::optional<SumKey>> slot_end_key() override { return std::optional<SumKey>(); }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override {
    std::lock_guard lock(mutex_);
    const auto found = watermarks_.find(partition);
    return found == watermarks_.end() ? std::nullopt : std::optional(found->second);
  }
  Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) override {
    std::lock_guard lock(mutex_);
    for (const UserRef user : users) out.push_back(forgotten_of(user.key));
    return {};
  }
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override {
    std::unique_lock lock(mutex_);
    ++reads_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !stall_; });
    if (fail_) return retry("connection refused");
    forgotten = forgotten_of(user.key);
    for (const PeriodIndex period : periods) {
      const auto found = values_.find(Key(user.key, period));
      if (found != values_.end()) out.push_back({period, store_key(found->first), found->second});
    }
    return {};
  }
  Status check_partition(PartitionId) const override { return {}; }
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>&) override { return {}; }
  FilterStoreStats stats() const override { return {}; }

 private:
  Forgotten forgotten_of(std::string_view user_key) const {
    const auto found = forgotten_.find(std::string(user_key));
    return found == forgotten_.end() ? Forgotten() : found->second;
  }

  using Key = std::pair<std::string, PeriodIndex>;
  static std::string store_key(const Key& key) { return key.first + "/" + std::to_string(key.second.value); }

  filter::Policy policy_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::string> values_;
  std::map<std::string, Forgotten> forgotten_;
  std::map<PartitionId, MergedWatermark> watermarks_;
  size_t reads_ = 0;
  bool fail_ = false;
  bool stall_ = false;
};

}  // namespace bloomring
