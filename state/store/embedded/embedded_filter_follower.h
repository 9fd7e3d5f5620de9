// A follower of an embedded filter store: reads what another process on this machine writes, as a RocksDB secondary.
//
// What it sees is as old as the last `refresh`, which its owner calls by timer; that also is when it takes up a store
// that did not exist yet, was restarted or was replaced.
//
// Order: a secondary can see a later write before an earlier one for a moment, namely when the writer's log file of the
// earlier one was flushed and removed between two steps of catching up. So `refresh` catches up twice when it finds new
// watermarks: what the first turn shows of the watermarks becomes visible after the second one, which shows the rest.
// `read` therefore sees everything that the watermark returned by `read_watermark` covers.
//
// Files: the writer removes table files when it has compacted them. While the process may open all files of the store
// it opens each when it hears of it, and what is open stays readable. Where they are too many (base/open_files.h) it
// opens them when they are read, and reads again after catching up where one was removed before.
//
// Failure: kRetry from everything while the store does not exist yet, with the reason. Once there is one, a `refresh`
// that fails (kRetry) leaves what was visible before visible, and the next one opens the store anew. kCorrupt and
// kInvalid (another partition count) end the visibility. The writing functions are kInvalid.
// Thread safe: reads go on during a refresh.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "state/store/embedded/embedded_filter_store.h"
#include "state/store/embedded/store_backup.h"

namespace bloomring {

class EmbeddedFilterFollower final : public FilterStore {
 public:
  // Succeeds also when there is nothing to follow yet. kInvalid when the store there was made for another partition
  // count. `clock` outlives the follower.
  static Result<std::unique_ptr<EmbeddedFilterFollower>> follow(const EmbeddedFilterStoreConfig& config,
                                                                const Calendar& calendar, const Clock& clock,
                                                                const StateMemory& memory);
  ~EmbeddedFilterFollower() override;

  using FilterStore::apply;
  using FilterStore::read;
  Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  Status sync() override;
  Status advance(PartitionId partition, const MergedWatermark& watermark) override;
  std::optional<int64_t> merged_ms() const override;
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) override;
  Status read_forgotten(std::span<const std::string_view> user_keys, std::vector<Forgotten>& out) override;
  Status refresh() override;
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) override;
  FilterStoreStats stats() const override;
  Result<std::set<std::string>> scenes() const override;
  // Reads every row (state/store/embedded/store_backup.h).
  Result<StoreCheck> check(const StoreCheckProgress& progress);

 private:
  struct Impl;
  explicit EmbeddedFilterFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
