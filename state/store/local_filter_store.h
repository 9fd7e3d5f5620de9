// Filter stores on this machine: their operations are functions that return when they are done. These two classes make
// the store's interfaces of them; every operation has ended when it has begun.
//
// A local read may wait for a disk. A caller whose thread must not wait puts a PooledFilterReader before it
// (state/store/pooled_filter_reader.h).
// Errors: as filter_reader.h, filter_writer.h and store_admin.h say.
// Threading: as these say; two threads never write the same partition.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "state/store/filter_reader.h"
#include "state/store/filter_writer.h"
#include "state/store/store_admin.h"

namespace bloomring {

class LocalFilterReader : public FilterReader, public StoreAdmin {
 public:
  void begin_read(std::shared_ptr<FilterRead> read) final;
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) final {
    return read_watermark(partition);
  }
  Status refresh() override { return {}; }

  // Appends the filters of the user key that exist for these periods, in the order of `periods`, and sets `forgotten`.
  virtual Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
                      Forgotten& forgotten) = 0;
  // The filters alone, for inspection.
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out) {
    Forgotten forgotten;
    return read(user, periods, out, forgotten);
  }
};

class LocalFilterStore : public LocalFilterReader, public FilterWriter {
 public:
  // The writer outlives neither the store nor its process: the store's lock keeps other processes out.
  Result<std::unique_ptr<PartitionWriter>> take_over(PartitionId partition) final;

  // As PartitionWriter says of the operations of these names.
  virtual Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) = 0;
  Status apply(std::span<const FilterUpdate> updates) { return apply({}, updates); }
  virtual Status advance(PartitionId partition, const MergedWatermark& watermark) = 0;
  virtual Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) = 0;
  // Makes everything applied so far durable.
  virtual Status sync() = 0;
  // kInvalid for a partition that the store does not have.
  virtual Status check_partition(PartitionId partition) const = 0;

 private:
  class Writer;

  std::mutex owners_mutex_;
  std::map<PartitionId, uint64_t> owners_;  // How often each partition was taken over.
};

}  // namespace bloomring
