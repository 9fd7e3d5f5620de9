// A sink and a filter store that refuse to write for a member whose lease has expired (pipeline/runtime/lease.h).
//
// A refused write returns kRetry, which a task handles anyway (a full queue, a store that is away): it keeps its
// records and is destroyed when the group reports its partitions as lost. Reads and acknowledgements pass. Commits
// need no lease: the coordinator refuses those of a member that it has removed.
// Limit: librdkafka still sends, after the process resumes, records that it had taken before.
// Threading: as the wrapped object; any thread may check the lease.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/io/io.h"
#include "pipeline/runtime/lease.h"
#include "state/store/filter_store.h"

namespace bloomring {

class LeasedSink final : public Sink {
 public:
  // `lease` outlives the sink.
  LeasedSink(const Lease& lease, std::unique_ptr<Sink> sink) : lease_(lease), sink_(std::move(sink)) {}

  Status send(OutRecord& record, uint64_t ticket) override;
  Status poll_acks(std::vector<uint64_t>& tickets) override { return sink_->poll_acks(tickets); }
  std::optional<int64_t> broker_time_ms() const override { return sink_->broker_time_ms(); }

 private:
  const Lease& lease_;
  const std::unique_ptr<Sink> sink_;
};

class LeasedFilterStore final : public FilterStore {
 public:
  // Both outlive this one.
  LeasedFilterStore(const Lease& lease, FilterStore& store) : lease_(lease), store_(store) {}

  using FilterStore::apply;
  using FilterStore::read;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  Status sync() override;
  Status advance(PartitionId partition, const MergedWatermark& watermark) override;

  std::optional<int64_t> merged_ms() const override { return store_.merged_ms(); }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override {
    return store_.read_watermark(partition);
  }
  Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override {
    return store_.read(user_key, periods, out, forgotten);
  }
  Status read_forgotten(std::span<const std::string_view> user_keys, std::vector<Forgotten>& out) override {
    return store_.read_forgotten(user_keys, out);
  }
  Status refresh() override { return store_.refresh(); }
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override {
    return store_.scan(visit);
  }
  FilterStoreStats stats() const override { return store_.stats(); }

 private:
  const Lease& lease_;
  FilterStore& store_;
};

}  // namespace bloomring
