// The filter stores that must obey the same law, with the verbs that tests of the law are written in.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "filter/filter.h"
#include "schemas/store_key.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "state/store/redis/redis_filter_store.h"
#include "tests/support/blocking_filter_store.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"
#include "tests/support/redis_servers.h"

namespace bloomring::testing {

inline constexpr int32_t kNow = 682;  // 2026-11, the period that holds the clock's time.
inline constexpr int64_t kNowMs = 1795000000000;
inline constexpr uint32_t kBedPartitions = 4;

inline std::string user(const std::string& name) { return std::string(UserKey("feed", name).bytes()); }

class Bed {
 public:
  virtual ~Bed() = default;
  virtual LocalFilterStore& store() = 0;
  // The store's own interfaces, whose operations may end later.
  virtual FilterReader& reader() { return store(); }
  virtual FilterWriter& writers() { return store(); }
  virtual void reopen() = 0;
  virtual void settle() = 0;  // Lets the store do all that it puts off.
  virtual void damage(const std::string& name, int32_t period) = 0;
  virtual void damage_forgotten(const std::string& name) = 0;

  void play(const std::string& name, int32_t period, const std::vector<std::string>& items) {
    std::vector<ItemHash> hashes;
    for (const std::string& item : items) hashes.push_back(item_hash(item));
    const std::string key = user(name);
    const FilterUpdate update{key, PeriodIndex(period), hashes};
    const Status status = store().apply({&update, 1});
    REQUIRE(status.to_string() == "ok");
  }
  std::vector<StoredFilter> read(const std::string& name, const std::vector<int32_t>& periods) {
    std::vector<PeriodIndex> wanted;
    for (const int32_t period : periods) wanted.push_back(PeriodIndex(period));
    std::vector<StoredFilter> filters;
    const Status status = store().read(user(name), wanted, filters);
    REQUIRE(status.to_string() == "ok");
    return filters;
  }
  // Those of the items that the filter of the period holds, one after the other.
  std::string seen(const std::string& name, int32_t period, const std::vector<std::string>& items) {
    return items_in(read(name, {period}), name, items);
  }
  static std::string items_in(const std::vector<StoredFilter>& filters, const std::string& name,
                              const std::vector<std::string>& items) {
    std::string found;
    for (const StoredFilter& filter : filters) {
      filter::Query query;
      REQUIRE(query.add(filter.value, filter.store_key).ok());
      for (const std::string& item : items) {
        const ItemHash hash = item_hash(item);
        uint8_t answer = filter::Query::kUnseen;
        query.run({&hash, 1}, user(name), {&answer, 1});
        if (answer == 0) found += item;
      }
    }
    return found;
  }
  // Expired values may go: log time is merged up to now.
  void merge_to_now() {
    MergedWatermark watermark;
    watermark.merged_ms = clock.now_ms();
    REQUIRE(store().advance(PartitionId(0), watermark).ok());
  }
  void pass_to_ms(int64_t time_ms) {
    clock.advance_to_ms(time_ms);
    merge_to_now();
  }
  // Writes that everything of the user up to this time is forgotten, and removes the filters of these periods.
  void forget_everything(const std::string& name, int64_t time_ms, int32_t removed_from, int32_t removed_to) {
    const std::string key = user(name);
    ForgottenUpdate update{key, {}, PeriodIndex(removed_from), PeriodIndex(removed_to)};
    update.forgotten.forget_everything(time_ms);
    const Status status = store().apply({&update, 1}, {});
    REQUIRE(status.to_string() == "ok");
  }
  Forgotten forgotten(const std::string& name) {
    const std::string key = user(name);
    const UserRef keys[] = {key};
    std::vector<Forgotten> out;
    REQUIRE(store().read_forgotten(keys, out).to_string() == "ok");
    std::vector<StoredFilter> filters;
    Forgotten same;
    REQUIRE(store().read(key, {}, filters, same).to_string() == "ok");
    REQUIRE(same == out.at(0));
    return same;
  }
  int scanned() {
    int filters = 0;
    REQUIRE(store().scan([&](const StoredFilter&, std::string_view) { return ++filters > 0; }).ok());
    return filters;
  }

  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
};

class EmbeddedBed final : public Bed {
 public:
  EmbeddedBed() { open(); }
  LocalFilterStore& store() override { return *store_; }
  EmbeddedFilterStore& embedded() { return *store_; }
  void close() { store_.reset(); }
  void open() {
    auto opened = EmbeddedFilterStore::open(config(), calendar, clock, memory_);
    REQUIRE(opened.status().to_string() == "ok");
    store_ = std::move(opened).value();
  }
  void reopen() override {
    close();
    open();
  }
  void settle() override { REQUIRE(store_->compact().ok()); }
  // Adds an operand that is no filter, as a bug or a broken disk might leave it.
  void damage(const std::string& name, int32_t period) override;
  void damage_forgotten(const std::string& name) override;
  // Writes the bytes under the key, while the store is closed.
  void write_row(const std::string& key, const std::string& value, bool as_operand = false);
  EmbeddedFilterStoreConfig config() const {
    EmbeddedFilterStoreConfig config;
    config.path = folder / "store";
    config.partition_count = kBedPartitions;
    config.write_buffer_bytes = 64 << 10;
    return config;
  }
  const StateMemory& memory() const { return memory_; }

  Folder folder;

 private:
  StateMemory memory_{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
  std::unique_ptr<EmbeddedFilterStore> store_;
};

class MemoryBed final : public Bed {
 public:
  LocalFilterStore& store() override { return memory_store; }
  void reopen() override {}
  void settle() override {}
  void damage(const std::string& name, int32_t period) override {
    memory_store.overwrite(filter_key(user(name), PeriodUnit::kMonth, PeriodIndex(period)), "garbage");
  }
  void damage_forgotten(const std::string& name) override {
    memory_store.overwrite(forgotten_key(user(name)), "garbage");
  }

  MemoryFilterStore memory_store{filter::Policy(), calendar, clock, kBedPartitions};
};

// A store on real servers: by default a single one.
class RedisBed : public Bed {
 public:
  explicit RedisBed(std::vector<std::string> settings = {})
      : RedisBed(std::make_unique<RedisServer>(std::move(settings)), nullptr) {}
  LocalFilterStore& store() override { return *blocking_; }
  FilterReader& reader() override { return *redis_; }
  FilterWriter& writers() override { return *redis_; }
  RedisFilterStore& redis() { return *redis_; }
  BlockingFilterStore<RedisFilterStore>& blocking() { return *blocking_; }
  void reopen() override;
  void settle() override {}
  void damage(const std::string& name, int32_t period) override;
  void damage_forgotten(const std::string& name) override;

  RedisStoreConfig config() const;
  // Another process's view of the same store.
  std::unique_ptr<RedisFilterStore> another(bool writes = true);
  // To the server that has the key.
  std::string ask_owner(const std::string& key, const std::vector<std::string>& words);
  RedisServer& server() { return *server_; }
  RedisCluster& cluster() { return *cluster_; }
  const RedisKeys keys{"bloomring:"};
  uint32_t min_replicas = 0;
  bool read_replicas = false;
  uint64_t write_bytes_per_second = 0;

 protected:
  RedisBed(std::unique_ptr<RedisServer> server, std::unique_ptr<RedisCluster> cluster);

 private:
  const std::unique_ptr<RedisServer> server_;
  const std::unique_ptr<RedisCluster> cluster_;
  std::unique_ptr<RedisFilterStore> redis_;
  std::unique_ptr<BlockingFilterStore<RedisFilterStore>> blocking_;
};

// Three primaries, each with a replica.
class RedisClusterBed final : public RedisBed {
 public:
  explicit RedisClusterBed(size_t replicas_of_each = 1)
      : RedisBed(nullptr, std::make_unique<RedisCluster>(3, replicas_of_each)) {}
};

}  // namespace bloomring::testing
