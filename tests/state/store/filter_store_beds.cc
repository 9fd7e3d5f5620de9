#include "tests/state/store/filter_store_beds.h"

#include "state/store/embedded/embedded_options.h"

namespace bloomring::testing {

void EmbeddedBed::write_row(const std::string& key, const std::string& value, bool as_operand) {
  close();
  {
    EmbeddedCounters counters;
    const FilterLife life(calendar);
    rocksdb::DB* opened = nullptr;
    REQUIRE(rocksdb::DB::Open(embedded_options(config(), life, clock, memory_, counters), config().path, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    const rocksdb::WriteOptions options;
    REQUIRE((as_operand ? db->Merge(options, key, value) : db->Put(options, key, value)).ok());
  }
  open();
}

void EmbeddedBed::damage(const std::string& name, int32_t period) {
  write_row(filter_key(user(name), PeriodUnit::kMonth, PeriodIndex(period)), "garbage", true);
}

void EmbeddedBed::damage_forgotten(const std::string& name) { write_row(forgotten_key(user(name)), "garbage"); }

RedisBed::RedisBed(std::unique_ptr<RedisServer> server, std::unique_ptr<RedisCluster> cluster)
    : server_(std::move(server)), cluster_(std::move(cluster)) {
  reopen();
}

RedisStoreConfig RedisBed::config() const {
  RedisStoreConfig config;
  config.addresses = server_ ? std::vector{server_->address()} : cluster_->addresses();
  config.partition_count = kBedPartitions;
  config.min_replicas = min_replicas;
  config.read_replicas = read_replicas;
  config.write_bytes_per_second = write_bytes_per_second;
  config.timeout_ms = 4'000;
  return config;
}

void RedisBed::reopen() {
  blocking_.reset();
  redis_ = another();
  blocking_ = std::make_unique<BlockingFilterStore<RedisFilterStore>>(*redis_, kBedPartitions);
}

std::unique_ptr<RedisFilterStore> RedisBed::another(bool writes) {
  auto made = std::make_unique<RedisFilterStore>(config(), calendar, clock, writes);
  REQUIRE(made->refresh().to_string() == "ok");
  return made;
}

std::string RedisBed::ask_owner(const std::string& key, const std::vector<std::string>& words) {
  RedisServer& owner = server_ ? *server_ : cluster_->primary(cluster_->primary_of(redis_slot(key)));
  return owner.ask(words);
}

void RedisBed::damage(const std::string& name, int32_t period) {
  const std::string key = keys.filter(user(name), PeriodUnit::kMonth, PeriodIndex(period));
  REQUIRE(ask_owner(key, {"SET", key, "garbage"}) == "OK\n");
}

void RedisBed::damage_forgotten(const std::string& name) {
  const std::string key = keys.forgotten(user(name));
  REQUIRE(ask_owner(key, {"SET", key, "garbage"}) == "OK\n");
}

}  // namespace bloomring::testing
