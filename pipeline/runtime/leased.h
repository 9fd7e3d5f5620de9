// A sink and a writer of the filter store that refuse to write for a member whose lease has expired
// (pipeline/runtime/lease.h).
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
#include "state/store/filter_writer.h"

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

class LeasedWriter final : public PartitionWriter {
 public:
  // `lease` outlives the writer.
  LeasedWriter(const Lease& lease, std::unique_ptr<PartitionWriter> writer)
      : lease_(lease), writer_(std::move(writer)) {}

  void begin_read_forgotten(std::span<const UserRef> users) override {
    writer_->begin_read_forgotten(users);
  }
  void begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  void begin_sync() override;
  void begin_advance(const MergedWatermark& watermark) override;
  std::optional<Status> poll() override;
  std::vector<Forgotten> take_forgotten() override { return writer_->take_forgotten(); }
  std::optional<int64_t> merged_ms() const override { return writer_->merged_ms(); }

 private:
  const Lease& lease_;
  const std::unique_ptr<PartitionWriter> writer_;
  bool refused_ = false;  // The operation was not passed on.
};

}  // namespace bloomring
