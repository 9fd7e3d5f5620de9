#include "state/store/redis/redis_import.h"

#include <map>
#include <thread>
#include <utility>

#include "schemas/forgotten.h"
#include "state/store/check_store_meta.h"
#include "state/store/redis/redis_admin.h"
#include "state/store/redis/redis_partition_writer.h"

namespace bloomring {

namespace {

constexpr std::string_view kHasData = " already: name an empty store (another store.redis.prefix)";

Status wait(const std::vector<std::shared_ptr<RedisApply>>& under_way) {
  Status failure;
  for (const std::shared_ptr<RedisApply>& one : under_way) {
    std::optional<Status> ended;
    while (!(ended = one->take_end())) std::this_thread::yield();
    if (failure.ok()) failure = std::move(*ended);
  }
  return failure;
}

}  // namespace

Result<std::unique_ptr<StoreImport>> RedisImport::begin(RedisStoreParts& parts, RedisClient& writes,
                                                        RedisClient& marks, const Watermarks& watermarks) {
  std::unique_ptr<RedisImport> import(new RedisImport(parts, writes, marks));
  BLOOMRING_TRY(import->check_watermarks(watermarks));
  BLOOMRING_TRY(import->take_partitions());
  BLOOMRING_TRY(import->mark(watermarks));
  return std::unique_ptr<StoreImport>(std::move(import));
}

Status RedisImport::take_partitions() {
  for (uint32_t p = 0; p < parts_.config.partition_count; ++p) {
    BLOOMRING_TRY_ASSIGN(std::unique_ptr<RedisFence> fence,
                         RedisFence::take_over(parts_, marks_, PartitionId(static_cast<int32_t>(p))));
    fences_.push_back(std::move(fence));
  }
  return {};
}

// A store that was opened for this import, and was not there before, has the mark already.
Status RedisImport::mark(const Watermarks& watermarks) {
  const std::string key = parts_.keys.meta();
  BLOOMRING_TRY_ASSIGN(const RedisReply stored, only_reply(marks_.call(get_request(key)), "GET " + key));
  BLOOMRING_TRY(check_watermarks(watermarks));  // A stage may have written before it lost its partition.
  BLOOMRING_TRY_ASSIGN(const StoreMeta meta, decode_store_meta(stored.bytes));
  if (meta.import_id == parts_.config.import_id) return {};
  BLOOMRING_TRY(check_empty());
  return describe(stored.bytes, parts_.config.import_id);
}

Status RedisImport::check_empty() {
  return walk_redis_store(
      parts_, marks_,
      [&](std::string_view key) {
        const auto logical = parts_.keys.logical(key);
        return logical.ok() && !logical->empty();
      },
      [](std::string_view, std::string_view) -> Result<bool> {
        return invalid("the filter store has filters" + std::string(kHasData));
      });
}

Status RedisImport::check_watermarks(const Watermarks& watermarks) {
  for (uint32_t p = 0; p < parts_.config.partition_count; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    const std::string key = parts_.keys.watermark(partition);
    BLOOMRING_TRY_ASSIGN(const RedisReply reply, only_reply(marks_.call(get_request(key)), "GET " + key));
    BLOOMRING_TRY_ASSIGN(const auto stored, parts_.decode_mark(reply, partition));
    const auto imported = watermarks.find(partition);
    if (!stored || (imported != watermarks.end() && *stored == imported->second)) continue;
    return invalid("the filter store has a watermark of " + parts_.label(partition) + std::string(kHasData));
  }
  return {};
}

Status RedisImport::describe(const std::string& stored, uint64_t import_id) {
  const std::string key = parts_.keys.meta();
  const std::string described =
      encode_store_meta(store_meta(parts_.config.partition_count, parts_.calendar(), import_id));
  RedisRequest request =
      request_at(key, compare_and_set(key, stored, "", {{key, std::string(kAnyValue), described}}));
  BLOOMRING_TRY_ASSIGN(const RedisReply set, only_reply(marks_.call(std::move(request)), "EVAL on " + key));
  const auto found = other_state(set);
  if (!found || *found == described) return {};
  return retry("another process changes the description of the filter store at the same time");
}

Result<RedisChange> RedisImport::change_of(const ExportedValue& value) const {
  BLOOMRING_TRY_ASSIGN(const std::string_view user_key, parse_user_of(value.key));
  const UserRef user(user_key);
  RedisChange change;
  change.shard = user.shard();
  change.logical_key = std::string(value.key);
  change.replace = std::string(value.value);
  change.imported = true;
  if (value.key.starts_with(kForgottenKeyTag)) {
    change.key = parts_.keys.forgotten(user);
    const auto forgotten = salvage_forgotten(value.value, value.key);
    if (forgotten.ok() && !forgotten->damaged() && forgotten->newest_ms() > 0)
      change.expires_ms =
          parts_.calendar().expires_at_ms(user.hash, parts_.calendar().period_of_ms(forgotten->newest_ms()));
    return change;
  }
  BLOOMRING_TRY_ASSIGN(const FilterKey key, parse_filter_key(value.key));
  change.key = parts_.keys.filter(user, key.unit, key.period);
  change.expires_ms = parts_.life.expires_at_ms(key);
  return change;
}

Status RedisImport::write(std::span<const ExportedValue> values) {
  std::map<PartitionId, std::vector<RedisChange>> changes;
  for (const ExportedValue& value : values) {
    BLOOMRING_TRY_ASSIGN(RedisChange change, change_of(value));
    changes[parts_.partition_of(change.shard)].push_back(std::move(change));
  }
  std::vector<std::shared_ptr<RedisApply>> under_way;  // Shared with their requests.
  for (auto& [partition, of_one] : changes) {
    const std::shared_ptr<RedisFence>& fence = fences_.at(static_cast<size_t>(partition.value));
    under_way.push_back(
        std::make_shared<RedisApply>(RedisWriteParts{parts_, writes_, fence}, std::move(of_one),
                                     std::vector<RedisChange>()));
    under_way.back()->begin();
  }
  return wait(under_way);
}

Status RedisImport::end(const Watermarks& watermarks) {
  for (size_t p = 0; p < fences_.size(); ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    RedisPartitionWriter writer(parts_, writes_, marks_, fences_[p]);
    const auto watermark = watermarks.find(partition);
    if (watermark != watermarks.end()) {
      BLOOMRING_TRY(advance_now(writer, watermark->second));
      continue;
    }
    // Nothing of the partition is merged; but its values are durable as those of the others are.
    writer.begin_sync();
    std::optional<Status> synced;
    while (!(synced = writer.poll())) std::this_thread::yield();
    BLOOMRING_TRY(*synced);
  }
  const std::string key = parts_.keys.meta();
  BLOOMRING_TRY_ASSIGN(const RedisReply stored, only_reply(marks_.call(get_request(key)), "GET " + key));
  return describe(stored.bytes, 0);
}

}  // namespace bloomring
