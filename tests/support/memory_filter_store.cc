#include "tests/support/memory_filter_store.h"

#include <algorithm>

#include "base/hash.h"
#include "state/store/check_update.h"
#include "state/store/stored_union.h"

namespace bloomring {

namespace {
Status unreachable() { return retry("the filter store is not reachable (injected)"); }
}  // namespace

MemoryFilterStore::MemoryFilterStore(const filter::Policy& policy, const Calendar& calendar, const Clock& clock,
                                     uint32_t partition_count)
    : life_(calendar), clock_(clock), partition_count_(partition_count), policy_(policy) {}

bool MemoryFilterStore::injected_failure() {
  if (clock_.now_ms() < away_until_ms_) return true;
  if (failures_ == 0) return false;
  --failures_;
  return true;
}

void MemoryFilterStore::fail_next(int calls) {
  const std::lock_guard lock(mutex_);
  failures_ = calls;
}

void MemoryFilterStore::fail_until_ms(int64_t wall_time_ms) {
  const std::lock_guard lock(mutex_);
  away_until_ms_ = wall_time_ms;
}

MemoryFilterStore::Rows MemoryFilterStore::backup() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

void MemoryFilterStore::restore(Rows rows) {
  const std::lock_guard lock(mutex_);
  rows_ = std::move(rows);
  undurable_.clear();
}

void MemoryFilterStore::reopen(const filter::Policy& policy) {
  const std::lock_guard lock(mutex_);
  policy_ = policy;
}

void MemoryFilterStore::overwrite(const std::string& store_key, std::string value) {
  const std::lock_guard lock(mutex_);
  rows_[store_key] = std::move(value);
}

void MemoryFilterStore::crash_keeping(uint64_t random) {
  const std::lock_guard lock(mutex_);
  const size_t keep = random % (undurable_.size() + 1);
  for (; undurable_.size() > keep; undurable_.pop_back()) {
    Write& write = undurable_.back();
    if (write.before)
      rows_[write.key] = std::move(*write.before);
    else
      rows_.erase(write.key);
  }
  undurable_.clear();
}

void MemoryFilterStore::put(const std::string& key, std::string value) {
  const auto row = rows_.find(key);
  undurable_.push_back({key, row == rows_.end() ? std::nullopt : std::optional(row->second)});
  stats_.bytes_written += key.size() + value.size();
  rows_[key] = std::move(value);
}

Status MemoryFilterStore::apply_one(const FilterUpdate& update) {
  BLOOMRING_TRY(check_update(update));
  if (!life_.calendar().kept(update.user.hash, update.period, expiry_ms())) {
    ++stats_.expired_updates;
    return {};
  }
  const std::string key = filter_key(update.user, life_.calendar().config().unit, update.period);
  const std::string operand = filter::make(update.items, update.user.key, key, policy_);
  std::vector<std::string_view> values;
  if (const auto row = rows_.find(key); row != rows_.end()) values.push_back(row->second);
  values.push_back(operand);
  StoredUnion united = unite_stored(values, key, policy_, life_.calendar().closed(update.period, expiry_ms()));
  stats_.refused += united.refused;
  ++stats_.updates;
  put(key, std::move(united.value));
  return {};
}

void MemoryFilterStore::remove(const std::string& key) {
  const auto row = rows_.find(key);
  if (row == rows_.end()) return;
  undurable_.push_back({key, std::move(row->second)});
  rows_.erase(row);
}

Status MemoryFilterStore::apply_one(const ForgottenUpdate& update) {
  BLOOMRING_TRY(check_update(update));
  for (int32_t period = update.removed_from.value; period < update.removed_to.value; ++period) {
    remove(filter_key(update.user, life_.calendar().config().unit, PeriodIndex(period)));
  }
  const std::string key = forgotten_key(update.user);
  if (update.forgotten.empty()) {
    remove(key);
  } else {
    put(key, encode_forgotten(update.forgotten, key));
  }
  return {};
}

Status MemoryFilterStore::apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) {
  const std::lock_guard lock(mutex_);
  const bool failure = injected_failure();
  size_t changes = forgotten.size() + updates.size();
  if (failure) changes /= 2;
  for (const ForgottenUpdate& update : forgotten.first(std::min(changes, forgotten.size())))
    BLOOMRING_TRY(apply_one(update));
  changes -= std::min(changes, forgotten.size());
  for (const FilterUpdate& update : updates.first(changes)) BLOOMRING_TRY(apply_one(update));
  return failure ? unreachable() : Status();
}

Status MemoryFilterStore::check_partition(PartitionId partition) const {
  return bloomring::check_partition(partition, partition_count_);
}

Status MemoryFilterStore::sync() {
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  undurable_.clear();
  return {};
}

Status MemoryFilterStore::advance(PartitionId partition, const MergedWatermark& watermark) {
  BLOOMRING_TRY(check_partition(partition));
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  put(watermark_key(partition), encode_watermark(watermark, partition, partition_count_));
  undurable_.clear();
  return {};
}

std::optional<int64_t> MemoryFilterStore::merged_now() const {
  std::optional<int64_t> latest_ms;
  const auto end = rows_.lower_bound(kWatermarkKeysEnd);
  for (auto row = rows_.lower_bound(kWatermarkKeysBegin); row != end; ++row) {
    const auto partition = parse_watermark_key(row->first);
    if (!partition.ok()) continue;
    const auto watermark = decode_watermark(row->second, *partition, partition_count_);
    if (watermark.ok()) latest_ms = std::max(latest_ms, watermark->merged_ms);
  }
  return latest_ms;
}

std::optional<int64_t> MemoryFilterStore::merged_ms() const {
  const std::lock_guard lock(mutex_);
  return merged_now();
}

Result<std::optional<MergedWatermark>> MemoryFilterStore::read_watermark(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  const auto row = rows_.find(watermark_key(partition));
  if (row == rows_.end()) return std::optional<MergedWatermark>();
  BLOOMRING_TRY_ASSIGN(MergedWatermark watermark, decode_watermark(row->second, partition, partition_count_));
  return std::optional<MergedWatermark>(std::move(watermark));
}

const std::string* MemoryFilterStore::forgotten_row(const std::string& store_key) const {
  const auto row = rows_.find(store_key);
  return row == rows_.end() ? nullptr : &row->second;
}

Status MemoryFilterStore::read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) {
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  for (const UserRef user : users) {
    const std::string key = forgotten_key(user);
    const std::string* value = forgotten_row(key);
    out.emplace_back();
    if (value == nullptr) continue;
    BLOOMRING_TRY_ASSIGN(out.back(), salvage_forgotten(*value, key));
  }
  return {};
}

Status MemoryFilterStore::read(UserRef user, std::span<const PeriodIndex> periods,
                               std::vector<StoredFilter>& out, Forgotten& forgotten) {
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  forgotten = {};
  const std::string key = forgotten_key(user);
  if (const std::string* value = forgotten_row(key)) {
    BLOOMRING_TRY_ASSIGN(forgotten, decode_forgotten(*value, key));
  }
  const int64_t now_ms = expiry_ms();
  for (const PeriodIndex period : periods) {
    if (!period_has_key(period)) continue;
    if (!life_.calendar().kept(user.hash, period, now_ms)) continue;
    const auto row = rows_.find(filter_key(user, life_.calendar().config().unit, period));
    if (row == rows_.end()) continue;
    BLOOMRING_TRY(check_stored(row->second, row->first));
    out.push_back({period, row->first, row->second});
  }
  return {};
}

Status MemoryFilterStore::scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) {
  const std::lock_guard lock(mutex_);
  if (injected_failure()) return unreachable();
  const int64_t now_ms = expiry_ms();
  const auto end = rows_.lower_bound(kFilterKeysEnd);
  for (auto row = rows_.lower_bound(kFilterKeysBegin); row != end; ++row) {
    BLOOMRING_TRY_ASSIGN(const FilterKey key, parse_filter_key(row->first));
    if (!life_.kept(key, now_ms)) continue;
    BLOOMRING_TRY(check_stored(row->second, row->first));
    if (!visit({key.period, row->first, row->second}, key.user_key)) break;
  }
  return {};
}

FilterStoreStats MemoryFilterStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace bloomring
