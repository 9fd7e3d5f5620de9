#include "state/store/local_filter_store.h"

#include <utility>

namespace bloomring {

void LocalFilterReader::begin_read(std::shared_ptr<FilterRead> read) {
  std::vector<Result<StoredUser>> users;
  for (const UserPeriods& user : read->users()) {
    StoredUser stored;
    Status status = this->read(user.user, user.periods, stored.filters, stored.forgotten);
    users.push_back(status.ok() ? Result<StoredUser>(std::move(stored)) : Result<StoredUser>(std::move(status)));
  }
  read->end(std::move(users));
}

class LocalFilterStore::Writer final : public PartitionWriter {
 public:
  Writer(LocalFilterStore& store, PartitionId partition, uint64_t number)
      : store_(store), partition_(partition), number_(number) {}

  void begin_read_forgotten(std::span<const UserRef> users) override {
    forgotten_.clear();
    end(store_.read_forgotten(users, forgotten_));
  }
  void begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override {
    end(owns() ? store_.apply(forgotten, updates) : refusal());
  }
  void begin_sync() override { end(owns() ? store_.sync() : refusal()); }
  void begin_advance(const MergedWatermark& watermark) override {
    end(owns() ? store_.advance(partition_, watermark) : refusal());
  }
  std::optional<Status> poll() override { return std::exchange(ended_, std::nullopt); }
  std::vector<Forgotten> take_forgotten() override { return std::exchange(forgotten_, {}); }
  std::optional<int64_t> merged_ms() const override { return store_.merged_ms(); }

 private:
  void end(Status status) {
    BLOOMRING_CHECK(!ended_, "the last operation of a partition was polled before the next begins");
    ended_ = std::move(status);
  }
  bool owns() const {
    const std::lock_guard lock(store_.owners_mutex_);
    return store_.owners_.at(partition_) == number_;
  }
  Status refusal() const {
    return fenced("partition " + std::to_string(partition_.value) + " of the filter store has another writer");
  }

  LocalFilterStore& store_;
  const PartitionId partition_;
  const uint64_t number_;  // Of its take-over.
  std::optional<Status> ended_;
  std::vector<Forgotten> forgotten_;
};

Result<std::unique_ptr<PartitionWriter>> LocalFilterStore::take_over(PartitionId partition) {
  BLOOMRING_TRY(check_partition(partition));
  const std::lock_guard lock(owners_mutex_);
  return std::unique_ptr<PartitionWriter>(std::make_unique<Writer>(*this, partition, ++owners_[partition]));
}

}  // namespace bloomring
