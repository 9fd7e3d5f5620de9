#include "state/store/redis/redis_filter_store.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/log.h"
#include "state/store/check_update.h"
#include "state/store/redis/redis_admin.h"
#include "state/store/redis/redis_import.h"
#include "state/store/redis/redis_partition_writer.h"
#include "state/store/redis/redis_scene_walk.h"
#include "state/store/redis/redis_server_check.h"
#include "state/store/redis/redis_start.h"

namespace bloomring {

namespace {

constexpr size_t kReadsMax = 8192;      // Of each client; a user takes two.
constexpr size_t kWritesMax = 1 << 16;  // Operations bound themselves.
constexpr int64_t kWriteSilenceMs = 5'000;

RedisClientConfig client_config(const RedisStoreConfig& config, int64_t timeout_ms, size_t in_flight_max) {
  RedisClientConfig client;
  client.addresses = config.addresses;
  client.login = config.login;
  client.timeout_ms = timeout_ms;
  client.in_flight_max = in_flight_max;
  return client;
}

}  // namespace

RedisFilterStore::RedisFilterStore(RedisStoreConfig config, const Calendar& calendar, const Clock& clock, bool writes,
                                   RedisNetwork& network)
    : parts_(std::move(config), calendar, clock, network), may_write_(writes), reads_(parts_, read_clients_) {
  const RedisStoreConfig& made = parts_.config;
  for (uint32_t i = 0; i < std::max(1U, made.connections); ++i)
    read_clients_.push_back(std::make_unique<RedisClient>("redis-read-" + std::to_string(i),
                                                          client_config(made, made.timeout_ms, kReadsMax),
                                                          parts_.traffic, network));
  if (!writes) return;
  const int64_t silence_ms = std::max(made.timeout_ms, kWriteSilenceMs);
  writes_ = std::make_unique<RedisClient>("redis-write", client_config(made, silence_ms, kWritesMax), parts_.traffic,
                                          network);
  marks_ = std::make_unique<RedisClient>("redis-mark", client_config(made, silence_ms, kWritesMax), parts_.traffic,
                                         network);
}

// All clients are closed before anything goes: what ends on one of them uses the parts, and may ask another client.
RedisFilterStore::~RedisFilterStore() {
  if (marks_) marks_->close();
  if (writes_) writes_->close();
  for (const std::unique_ptr<RedisClient>& client : read_clients_) client->close();
}

Status RedisFilterStore::check_start() {
  BLOOMRING_TRY(check_redis_commands(parts_, any_client(), may_write_));
  BLOOMRING_TRY(check_redis_clocks(parts_, any_client()));
  BLOOMRING_TRY(check_redis_description(parts_, any_client(), may_write_));
  if (!may_write_) return {};
  return make_redis_slot_end_key(parts_, any_client(), random_sum_key(), /*replace=*/false);
}

Status RedisFilterStore::check_clocks() {
  const int64_t now_ns = parts_.steady_ns();
  if (now_ns < clocks_due_ns_) return {};
  const bool was_wrong = !parts_.bar.why().ok();
  const Status checked = check_redis_clocks(parts_, any_client());
  const bool is_wrong = checked.code() == Code::kInvalid;
  // The servers may be set right, so those who wait for the store wait for that.
  const Status wrong = is_wrong ? retry(checked.message()) : Status();
  parts_.bar.set(wrong);
  if (is_wrong && !was_wrong) log_error("filters are neither read nor written: " + checked.message());
  if (!is_wrong && was_wrong) log_info("the clocks of the servers are right again", {{"store", parts_.name()}});
  if (is_wrong)
    parts_.heard.fail(wrong);
  else
    clocks_due_ns_ = now_ns + parts_.config.clock_check_ms * 1'000'000;
  return wrong;
}

Status RedisFilterStore::refresh() {
  if (!checked_) {
    if (Status checked = check_start(); !checked.ok()) {
      parts_.heard.fail(checked);
      return checked;
    }
    checked_ = true;
  }
  BLOOMRING_TRY(check_clocks());
  BLOOMRING_TRY(hear_slot_end_key());
  if (may_write_) BLOOMRING_TRY(put_back_slot_end_key());
  BLOOMRING_TRY(reads_.hear_watermarks().with_context(parts_.name()));
  return reads_.settle_doubts().with_context(parts_.name());
}

// A damaged key is told to who asks for it, and keeps nobody from reading.
Status RedisFilterStore::hear_slot_end_key() {
  auto heard = read_redis_slot_end_key(parts_, any_client());
  if (!heard.ok() && heard.code() != Code::kCorrupt) return std::move(heard).status().with_context(parts_.name());
  const std::lock_guard lock(key_mutex_);
  slot_end_key_ = std::move(heard);
  if (slot_end_key_.ok() && *slot_end_key_) known_key_ = *slot_end_key_;
  return {};
}

// A server may have lost it, as after a failover. The merges under way of all processes have this one.
Status RedisFilterStore::put_back_slot_end_key() {
  std::optional<SumKey> key;
  {
    const std::lock_guard lock(key_mutex_);
    if (slot_end_key_.ok() && *slot_end_key_) return {};
    key = known_key_;
  }
  if (!key) return {};
  log_warning("the filter store has lost its key of slot ends: it is put back", {{"store", parts_.name()}});
  BLOOMRING_TRY(make_redis_slot_end_key(parts_, any_client(), *key, /*replace=*/false).with_context(parts_.name()));
  return hear_slot_end_key();
}

Result<std::optional<SumKey>> RedisFilterStore::slot_end_key() {
  const std::lock_guard lock(key_mutex_);
  return slot_end_key_;
}

Result<std::optional<MergedWatermark>> RedisFilterStore::read_watermark(PartitionId partition) {
  BLOOMRING_TRY(check_partition(partition, parts_.config.partition_count));
  auto read = reads_.watermark(partition);
  if (!read.ok()) return std::move(read).status().with_context(parts_.name());
  return read;
}

Result<std::unique_ptr<PartitionWriter>> RedisFilterStore::take_over(PartitionId partition) {
  if (!may_write_) return invalid("this process opened the filter store for reading alone");
  BLOOMRING_TRY(check_partition(partition, parts_.config.partition_count));
  if (!checked_) BLOOMRING_TRY(refresh());
  // An import may have begun since the start. It is not to be disturbed, and its half of a store is not to be written.
  BLOOMRING_TRY(check_redis_description(parts_, *marks_, may_write_));
  BLOOMRING_TRY_ASSIGN(std::unique_ptr<RedisFence> fence, RedisFence::take_over(parts_, *marks_, partition));
  BLOOMRING_TRY(check_redis_description(parts_, *marks_, may_write_));
  return std::unique_ptr<PartitionWriter>(
      std::make_unique<RedisPartitionWriter>(parts_, *writes_, *marks_, std::shared_ptr(std::move(fence))));
}

Result<std::set<std::string>> RedisFilterStore::scenes() const {
  using Scenes = Result<std::set<std::string>>;
  auto promise = std::make_shared<std::promise<Scenes>>();  // Shared: a std::function is copied.
  auto found = promise->get_future();
  begin_scenes([promise](Scenes scenes) { promise->set_value(std::move(scenes)); });
  return found.get();
}

void RedisFilterStore::begin_scenes(TakeScenes ended) const {
  RedisSceneWalk::begin(parts_, any_client(), std::move(ended));
}

Status RedisFilterStore::scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) {
  return scan_redis_store(parts_, any_client(), visit);
}

Status RedisFilterStore::walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
                              const StoredVisit& visit) {
  return walk_redis_values(parts_, any_client(), kind, wanted, visit).with_context(parts_.name());
}

Result<uint64_t> RedisFilterStore::generation() { return redis_generation(parts_, any_client()); }

Status RedisFilterStore::check_holds(const Watermarks& watermarks) {
  return check_redis_holds(parts_, any_client(), watermarks).with_context(parts_.name());
}

Result<std::unique_ptr<StoreImport>> RedisFilterStore::begin_import(const Watermarks& watermarks) {
  if (!may_write_ || parts_.config.import_id == 0) return StoreAdmin::begin_import(watermarks);
  if (!checked_) BLOOMRING_TRY(refresh());
  auto begun = RedisImport::begin(parts_, *writes_, *marks_, watermarks);
  if (!begun.ok()) return std::move(begun).status().with_context(parts_.name());
  return begun;
}

FilterStoreStats RedisFilterStore::stats() const {
  FilterStoreStats stats;
  stats.updates = parts_.updates;
  stats.expired_updates = parts_.expired;
  stats.refused = parts_.refused;
  stats.bytes_written = parts_.bytes_written;
  return stats;
}

Result<bool> RedisFilterStore::is_made() { return is_redis_store_made(parts_, any_client()); }

Result<ServerFindings> RedisFilterStore::check_servers() { return check_redis_servers(parts_, any_client()); }

Result<StoreCheck> RedisFilterStore::check(const StoreCheckProgress& progress) {
  if (!checked_) BLOOMRING_TRY(refresh());
  return check_redis_store(parts_, any_client(), progress);
}

Status RedisFilterStore::begin_new_log() {
  if (!may_write_) return StoreAdmin::begin_new_log();
  for (uint32_t p = 0; p < parts_.config.partition_count; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    BLOOMRING_TRY_ASSIGN(const auto writer, take_over(partition));
    BLOOMRING_TRY_ASSIGN(const auto old, read_watermark(partition));
    BLOOMRING_TRY(advance_now(*writer, of_new_log(old)));
  }
  BLOOMRING_TRY(make_redis_slot_end_key(parts_, any_client(), random_sum_key(), /*replace=*/true));
  return hear_slot_end_key();
}

}  // namespace bloomring
