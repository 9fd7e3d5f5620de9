#include "state/rocksdb/rocks_board.h"

namespace bloomring {

namespace {

uint64_t property(rocksdb::DB& db, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(name, &value) ? value : 0;
}

std::shared_ptr<rocksdb::Statistics> make_statistics() {
  std::shared_ptr<rocksdb::Statistics> statistics = rocksdb::CreateDBStatistics();
  statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  return statistics;
}

}  // namespace

RocksBoard::RocksBoard() : window_statistics_(make_statistics()) {
  counts_[static_cast<size_t>(RocksKind::kWindow)].statistics.push_back(window_statistics_);
}

RocksBoard::Entry RocksBoard::add(RocksKind kind, rocksdb::DB& db) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_id_++;
  open_[id] = {kind, &db};
  return {shared_from_this(), id};
}

void RocksBoard::count_in(RocksKind kind, std::shared_ptr<rocksdb::Statistics> statistics) {
  const std::lock_guard lock(mutex_);
  counts_[static_cast<size_t>(kind)].statistics.push_back(std::move(statistics));
}

void RocksBoard::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const Open gone = open_.at(id);
  counts_[static_cast<size_t>(gone.kind)].errors_of_closed +=
      property(*gone.db, rocksdb::DB::Properties::kBackgroundErrors);
  open_.erase(id);
}

RocksHealth RocksBoard::health(RocksKind kind) const {
  const std::lock_guard lock(mutex_);
  const Counts& counts = counts_[static_cast<size_t>(kind)];
  RocksHealth health;
  health.background_errors = counts.errors_of_closed;
  for (const auto& [id, one] : open_) {
    if (one.kind != kind) continue;
    health.write_stopped |= property(*one.db, rocksdb::DB::Properties::kIsWriteStopped) > 0;
    health.pending_compaction_bytes += property(*one.db, rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
    health.background_errors += property(*one.db, rocksdb::DB::Properties::kBackgroundErrors);
  }
  for (const auto& statistics : counts.statistics) {
    health.stall_us += statistics->getTickerCount(rocksdb::STALL_MICROS);
    health.cache_hits += statistics->getTickerCount(rocksdb::BLOCK_CACHE_HIT);
    health.cache_misses += statistics->getTickerCount(rocksdb::BLOCK_CACHE_MISS);
  }
  return health;
}

}  // namespace bloomring
