// A reader that reads on threads of its own, behind a bounded queue: for a store whose reads wait for a disk, and
// callers whose threads must not wait.
//
// The queue is fair between callers (state/store/read_queue.h). When it is full, the caller with the most reads in it
// loses one. A read that nobody wants any more is refused instead of carried out.
// Threading: thread safe. The destructor refuses the queued reads and waits for the running ones.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "state/store/filter_reader.h"
#include "state/store/read_queue.h"

namespace bloomring {

struct FilterReadPool {
  size_t threads = 8;       // At least 1.
  size_t queued_max = 256;  // Reads; at least 1.
};

class PooledFilterReader final : public FilterReader {
 public:
  // `reader` outlives this one.
  PooledFilterReader(FilterReader& reader, const FilterReadPool& pool);
  ~PooledFilterReader() override;

  void begin_read(std::shared_ptr<FilterRead> read) override;
  uint64_t refused() const;  // Reads, for lack of room in the queue.

  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override {
    return reader_.read_watermark(partition);
  }
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) override {
    return reader_.heard_watermark(partition);
  }
  Result<std::optional<SumKey>> slot_end_key() override { return reader_.slot_end_key(); }
  std::optional<int64_t> merged_ms() const override { return reader_.merged_ms(); }
  Status refresh() override { return reader_.refresh(); }
  Result<std::set<std::string>> scenes() const override { return reader_.scenes(); }
  void begin_scenes(TakeScenes ended) const override { reader_.begin_scenes(std::move(ended)); }

 private:
  void work();

  FilterReader& reader_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  ReadQueue queue_;
  uint64_t refused_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // Last: they use the rest.
};

}  // namespace bloomring
