// A filter store in memory with the law of the real ones, for simulations and tests: what was not made durable can be
// lost in a crash, and calls can be made to fail.
//
// Fault model: `crash` takes back any number of the newest writes since the last `sync` or `advance` (a disk keeps a
// prefix of its log). `fail_next` and `fail_until_ms` make calls fail with kRetry as a store does that is not
// reachable; a failing `apply` may have made the first half of its changes, since a real one can fail in the middle
// too. `restore` takes the store back to what it was when `backup` was called.
// Thread safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "filter/filter.h"
#include "state/merged_time.h"
#include "state/store/filter_life.h"
#include "state/store/local_filter_store.h"

namespace bloomring {

class MemoryFilterStore final : public LocalFilterStore {
 public:
  // `clock` outlives the store.
  MemoryFilterStore(const filter::Policy& policy, const Calendar& calendar, const Clock& clock,
                    uint32_t partition_count);

  using LocalFilterReader::read;
  using LocalFilterStore::apply;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  Status sync() override;
  Status advance(PartitionId partition, const MergedWatermark& watermark) override;
  std::optional<int64_t> merged_ms() const override;
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  // By default the key of zeros, as MergeConfig has it.
  Result<std::optional<SumKey>> slot_end_key() override {
    const std::lock_guard lock(mutex_);
    return slot_end_key_;
  }
  void set_slot_end_key(std::optional<SumKey> key) {
    const std::lock_guard lock(mutex_);
    slot_end_key_ = key;
  }
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override;
  Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) override;
  Status check_partition(PartitionId partition) const override;
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override;
  FilterStoreStats stats() const override;

  // Injected fault: the machine crashes and comes back. `random` gives 64 random bits a call.
  template <typename Random>
  void crash(Random& random) {
    crash_keeping(static_cast<uint64_t>(random()));
  }
  // Injected fault: the next `calls` calls fail with kRetry; 0 ends the fault.
  void fail_next(int calls);
  // Injected fault: every call before this wall time fails with kRetry.
  void fail_until_ms(int64_t wall_time_ms);
  using Rows = std::map<std::string, std::string, std::less<>>;
  Rows backup() const;
  void restore(Rows rows);
  // As a process does that opens the same store with other settings: what is united from now on takes this form.
  void reopen(const filter::Policy& policy);
  // Injected fault: the bytes under the key are these from now on.
  void overwrite(const std::string& store_key, std::string value);

 private:
  struct Write {
    std::string key;
    std::optional<std::string> before;
  };
  bool injected_failure();
  void crash_keeping(uint64_t random);
  Status apply_one(const FilterUpdate& update);
  Status apply_one(const ForgottenUpdate& update);
  // By the watermarks that are there now, so that a restored backup has its own.
  std::optional<int64_t> merged_now() const;
  int64_t expiry_ms() const { return expiry_now_ms(clock_.now_ms(), merged_now()); }
  void put(const std::string& key, std::string value);
  void remove(const std::string& key);
  // The stored value, or null where there is none.
  const std::string* forgotten_row(const std::string& store_key) const;

  const FilterLife life_;
  const Clock& clock_;
  const uint32_t partition_count_;

  mutable std::mutex mutex_;  // Of all below.
  filter::Policy policy_;
  Rows rows_;
  std::optional<SumKey> slot_end_key_ = SumKey{};
  std::vector<Write> undurable_;  // Oldest first.
  int failures_ = 0;
  int64_t away_until_ms_ = INT64_MIN;
  FilterStoreStats stats_;
};

}  // namespace bloomring
