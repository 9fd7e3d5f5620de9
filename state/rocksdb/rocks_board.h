// The open databases of a process, for its metrics: StateMemory::health is computed from them.
//
// A store makes an entry when its database is open, and destroys it before the database closes. Counts of closed
// databases stay in the sums, so that these never fall. Included by sources of this folder only.
// Threading: thread safe. `health` waits for no disk, and closing a database waits for a running `health`.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "state/rocksdb/state_memory.h"

namespace bloomring {

class RocksBoard : public std::enable_shared_from_this<RocksBoard> {
 public:
  RocksBoard();

  class [[nodiscard]] Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept : board_(std::move(other.board_)), id_(other.id_) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(board_, other.board_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Entry() {
      if (board_) board_->remove(id_);
    }

   private:
    friend class RocksBoard;
    Entry(std::shared_ptr<RocksBoard> board, uint64_t id) : board_(std::move(board)), id_(id) {}
    std::shared_ptr<RocksBoard> board_;  // Shared: databases outlive the StateMemory.
    uint64_t id_ = 0;
  };

  Entry add(RocksKind kind, rocksdb::DB& db);
  // Adds the statistics in which databases of this kind count. They may share one.
  void count_in(RocksKind kind, std::shared_ptr<rocksdb::Statistics> statistics);
  // The statistics of all window stores together.
  const std::shared_ptr<rocksdb::Statistics>& window_statistics() const { return window_statistics_; }

  RocksHealth health(RocksKind kind) const;

 private:
  struct Open {
    RocksKind kind;
    rocksdb::DB* db;
  };
  struct Counts {
    std::vector<std::shared_ptr<rocksdb::Statistics>> statistics;
    uint64_t errors_of_closed = 0;
  };
  void remove(uint64_t id);

  const std::shared_ptr<rocksdb::Statistics> window_statistics_;
  mutable std::mutex mutex_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, Open> open_;
  std::array<Counts, kRocksKindCount> counts_;
};

}  // namespace bloomring
