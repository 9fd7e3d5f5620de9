// The window store on disk: one RocksDB folder per partition, without a write-ahead log. Each write puts block and
// state into one batch, so the flushed files hold the store as it was after some earlier write.
//
// Layout. Keys (schemas/window/window_key.h) only grow, which keeps the store cheap: table files never overlap, so
// compactions move them instead of rewriting them, and a release deletes whole files, without tombstones.
//
//   block-key of hour and offset      -> the block
//   state-key of filling and applied  -> a state (schemas/window/window_state.h); the last key is the newest state
//
// A state with applied offset a sorts after the block below a and before the block at a. Older states are garbage and
// are deleted with the files of their hour. A release first makes the new state durable and then removes files, so a
// crash between the two leaves garbage but never a state without its blocks. Hours released out of order stay on the
// disk until the older ones are released too: at most as many as the ring holds.
//
// Memory is shared by all stores of the process (state/rocksdb/state_memory.h); the owner flushes by timer, which
// bounds the records to read again after a crash.
// Errors: see window_store.h.
// Threading: see window_store.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "state/rocksdb/state_memory.h"
#include "state/window/window_store.h"

namespace bloomring {

struct RocksWindowStoreConfig {
  std::string path;  // Made when it does not exist.
  uint32_t partition_count = 1;
};

class RocksWindowStore final : public WindowStore {
 public:
  // kInvalid when another process has the folder open, it cannot be made or it was made for another partition count;
  // kCorrupt when it cannot be read, or was found damaged during an earlier use: the caller calls `wipe` and opens
  // again.
  static Result<std::unique_ptr<RocksWindowStore>> open(const RocksWindowStoreConfig& config,
                                                        const StateMemory& memory);
  // For inspection: shows the last flush, also while another process has the folder open. Only load, scan and find may
  // be called. kInvalid when there is no store.
  static Result<std::unique_ptr<RocksWindowStore>> open_for_reading(const RocksWindowStoreConfig& config,
                                                                    const StateMemory& memory);
  // Removes the folder of a store that is not open.
  static Status wipe(const std::string& path);
  // Flushes.
  ~RocksWindowStore() override;

  Result<std::optional<WindowState>> load() override;
  Status stage(HourIndex hour, Offset offset, std::string_view block, const WindowState& state) override;
  Status save(const WindowState& state) override;
  Status scan(HourIndex hour, const std::function<Status(Offset, std::string_view block)>& visit) override;
  Result<std::optional<std::string>> find(HourIndex hour, Offset offset) override;
  Status release(const std::vector<HourIndex>& hours, const WindowState& state) override;
  Status flush() override;
  Status clear() override;

  uint64_t bytes_on_disk() const;

 private:
  struct Impl;
  explicit RocksWindowStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
