// The filter store on servers of the Redis protocol: a cluster, a primary with replicas, or one server. Any number of
// processes reads and writes it; one of them writes a partition at a time.
//
// Each filter is one string value, byte for byte that of the embedded store (docs/formats.md), under a key whose hash
// tag names the shard of its user (schemas/store/redis_key.h). An update is read, united and written back by
// compare-and-set, under a fence that the writer of the partition holds (redis_fence.h). Values expire at the servers
// (PEXPIREAT) at the moment that state/period.h gives.
//
// Guarantees: those of filter_reader.h and filter_writer.h. "Durable" depends on the servers: everything
// that a watermark covers was acknowledged by the primary and `min_replicas` replicas before the watermark was
// written. A failover that loses writes takes the marks of its shards back with them: reads of these shards end with
// kRetry, the stages end, and after their start the log is read again from the least mark
// (schemas/store/shard_state.h).
// Errors: as filter_reader.h, filter_writer.h and store_admin.h; from `refresh` and `open` also as redis_start.h.
// Threading: thread safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "state/period.h"
#include "state/store/filter_reader.h"
#include "state/store/filter_writer.h"
#include "state/store/redis/redis_reads.h"
#include "state/store/redis/redis_store_parts.h"
#include "state/store/store_admin.h"

namespace bloomring {

class RedisFilterStore final : public FilterReader, public FilterWriter, public StoreAdmin {
 public:
  // Asks no server: `refresh` is the first to. `clock` and `network` outlive the store. `writes`: partitions may be
  // taken over.
  RedisFilterStore(RedisStoreConfig config, const Calendar& calendar, const Clock& clock, bool writes,
                   RedisNetwork& network = redis_sockets());
  ~RedisFilterStore() override;

  void begin_read(std::shared_ptr<FilterRead> read) override { reads_.begin(std::move(read)); }
  std::optional<int64_t> merged_ms() const override { return parts_.clock.merged_ms(); }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) override {
    return parts_.heard.of(partition);
  }
  Result<std::optional<SumKey>> slot_end_key() override;
  // Checks the servers and the description until that has succeeded once, then hears all watermarks and the key of slot
  // ends. A writer puts that key back where the servers have lost it. From time to time it looks at the servers'
  // clocks: while one is wrong, reads and writes end with kRetry.
  Status refresh() override;
  Result<std::set<std::string>> scenes() const override;
  void begin_scenes(TakeScenes ended) const override;

  Result<std::unique_ptr<PartitionWriter>> take_over(PartitionId partition) override;

  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override;
  Status walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
              const StoredVisit& visit) override;
  Result<uint64_t> generation() override;
  Status check_holds(const Watermarks& watermarks) override;
  Result<std::unique_ptr<StoreImport>> begin_import(const Watermarks& watermarks) override;
  FilterStoreStats stats() const override;
  Result<bool> is_made() override;
  Result<ServerFindings> check_servers() override;
  Result<StoreCheck> check(const StoreCheckProgress& progress) override;
  Status begin_new_log() override;

  const RedisStoreParts& parts() const { return parts_; }

 private:
  Status check_start();
  Status check_clocks();
  Status hear_slot_end_key();
  Status put_back_slot_end_key();
  RedisClient& any_client() const { return *read_clients_.front(); }

  RedisStoreParts parts_;
  const bool may_write_;
  std::atomic<bool> checked_{false};
  std::atomic<int64_t> clocks_due_ns_{0};  // When the servers' clocks are looked at next.
  mutable std::mutex key_mutex_;
  Result<std::optional<SumKey>> slot_end_key_ = std::optional<SumKey>();  // As heard. Guarded by key_mutex_...
  std::optional<SumKey> known_key_;                                       // ...as is the last one that was heard.
  std::vector<std::unique_ptr<RedisClient>> read_clients_;
  RedisReads reads_;
  std::unique_ptr<RedisClient> writes_;  // Null in a store that only reads, and...
  std::unique_ptr<RedisClient> marks_;   // ...so is this: requests that wait for replicas hold up their connection.
};

}  // namespace bloomring
