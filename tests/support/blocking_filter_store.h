// A filter store whose operations end later, behind the functions of a local one: for tests of the law of every store.
#pragma once

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "state/store/check_update.h"
#include "state/store/local_filter_store.h"

namespace bloomring::testing {

template <typename Store>
class BlockingFilterStore final : public LocalFilterStore {
 public:
  BlockingFilterStore(Store& store, uint32_t partition_count) : store_(store), partition_count_(partition_count) {}

  using LocalFilterReader::read;
  using LocalFilterStore::apply;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override {
    std::map<PartitionId, std::pair<std::vector<ForgottenUpdate>, std::vector<FilterUpdate>>> parts;
    for (const ForgottenUpdate& update : forgotten) parts[partition_of_user(update.user)].first.push_back(update);
    for (const FilterUpdate& update : updates) parts[partition_of_user(update.user)].second.push_back(update);
    for (auto& [partition, part] : parts) {
      BLOOMRING_TRY_ASSIGN(PartitionWriter* const writer, writer_of(partition));
      writer->begin_apply(part.first, part.second);
      BLOOMRING_TRY(wait(*writer));
    }
    return {};
  }
  Status sync() override {
    for (auto& [partition, writer] : writers_) {
      writer->begin_sync();
      BLOOMRING_TRY(wait(*writer));
    }
    return {};
  }
  Status advance(PartitionId partition, const MergedWatermark& watermark) override {
    BLOOMRING_TRY_ASSIGN(PartitionWriter* const writer, writer_of(partition));
    writer->begin_advance(watermark);
    return wait(*writer);
  }
  Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) override {
    for (const UserRef user : users) {
      BLOOMRING_TRY_ASSIGN(PartitionWriter* const writer, writer_of(partition_of_user(user)));
      writer->begin_read_forgotten({&user, 1});
      BLOOMRING_TRY(wait(*writer));
      out.push_back(std::move(writer->take_forgotten().at(0)));
    }
    return {};
  }
  Status check_partition(PartitionId partition) const override {
    return bloomring::check_partition(partition, partition_count_);
  }
  std::optional<int64_t> merged_ms() const override { return store_.merged_ms(); }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override {
    return store_.read_watermark(partition);
  }
  Result<std::optional<SumKey>> slot_end_key() override { return store_.slot_end_key(); }
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override {
    BLOOMRING_TRY_ASSIGN(StoredUser stored, read_now(store_, user, periods));
    for (StoredFilter& filter : stored.filters) out.push_back(std::move(filter));
    forgotten = std::move(stored.forgotten);
    return {};
  }
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override {
    return store_.scan(visit);
  }
  FilterStoreStats stats() const override { return store_.stats(); }

  // Operations of a partition end with this one's writer until somebody else takes it over.
  Result<PartitionWriter*> writer_of(PartitionId partition) {
    auto& writer = writers_[partition];
    if (!writer) {
      BLOOMRING_TRY_ASSIGN(writer, store_.take_over(partition));
    }
    return writer.get();
  }
  void forget_writers() { writers_.clear(); }

  static Status wait(PartitionWriter& writer) {
    while (true) {
      if (const std::optional<Status> ended = writer.poll()) return *ended;
      std::this_thread::yield();
    }
  }

 private:
  PartitionId partition_of_user(UserRef user) const { return partition_of(user.shard(), partition_count_); }

  Store& store_;
  const uint32_t partition_count_;
  std::map<PartitionId, std::unique_ptr<PartitionWriter>> writers_;
};

}  // namespace bloomring::testing
