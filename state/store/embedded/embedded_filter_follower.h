// A follower of an embedded filter store: reads what another process on this machine writes, as a RocksDB secondary.
//
// Its data is as old as the last `refresh`, which its owner calls by timer. `refresh` also opens a store that did not
// exist before, was restarted or was replaced.
//
// Order: a secondary can see a later write before an earlier one for a moment, when the writer flushed the earlier one
// and removed its log file between two steps of catching up. So `refresh` catches up twice when it finds new
// watermarks: it makes the watermarks of the first turn visible after the second turn, which brings the missing writes.
// `read` therefore sees everything that the watermark returned by `read_watermark` covers.
//
// Files: the writer removes table files when it has compacted them. While the process may open all files of the store,
// the follower opens each new file at once, and open files stay readable. When the files are too many
// (base/host/open_files.h), it opens them at reads; when a file was removed before, it catches up and reads again.
//
// Errors: kRetry, with the reason, from every function while the store does not exist yet. Later, a `refresh` that
// fails with kRetry leaves the data of the last one visible, and the next `refresh` opens the store again. After
// kCorrupt or kInvalid (another partition count) no data is visible.
// Threading: thread safe; reads continue during a refresh.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store_config.h"
#include "state/store/local_filter_store.h"

namespace bloomring {

class EmbeddedFilterFollower final : public LocalFilterReader {
 public:
  // Succeeds also while there is no store to follow yet. kInvalid when the store there was made for another partition
  // count. `clock` outlives the follower.
  static Result<std::unique_ptr<EmbeddedFilterFollower>> follow(const EmbeddedFilterStoreConfig& config,
                                                                const Calendar& calendar, const Clock& clock,
                                                                const StateMemory& memory);
  ~EmbeddedFilterFollower() override;

  using LocalFilterReader::read;
  std::optional<int64_t> merged_ms() const override;
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  Result<std::optional<SumKey>> slot_end_key() override;
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override;
  Status refresh() override;
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override;
  Status walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
              const StoredVisit& visit) override;
  Result<uint64_t> generation() override;
  FilterStoreStats stats() const override;
  Result<bool> is_made() override;
  Result<std::set<std::string>> scenes() const override;
  Result<std::optional<int64_t>> deleted_since_ms(ShardId shard) override;
  Result<StoreCheck> check(const StoreCheckProgress& progress) override;

 private:
  struct Impl;
  explicit EmbeddedFilterFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
