#include "state/store/redis/redis_partition_writer.h"

#include <utility>

#include "base/faults/fault_point.h"
#include "schemas/store_key.h"
#include "state/store/check_update.h"
#include "state/store/redis/redis_advance.h"

namespace bloomring {

RedisPartitionWriter::~RedisPartitionWriter() {
  if (operation_) operation_->cancel();
}

void RedisPartitionWriter::end_at_once(Status status) {
  BLOOMRING_CHECK(!operation_ && !ended_, "the last operation of a partition was polled before the next begins");
  ended_ = std::move(status);
}

void RedisPartitionWriter::begin_read_forgotten(std::span<const UserRef> users) {
  forgotten_.clear();
  read_bytes_.clear();
  std::vector<RedisReadForgotten::User> wanted;
  for (const UserRef user : users) wanted.push_back({user.shard(), forgotten_key(user), parts_.keys.forgotten(user)});
  reading_ = std::make_shared<RedisReadForgotten>(RedisWriteParts{parts_, writes_, fence_}, std::move(wanted));
  operation_ = reading_;
  reading_->begin();
}

Status RedisPartitionWriter::prepare(std::span<const ForgottenUpdate> forgotten, std::vector<RedisChange>& out) {
  const Calendar& calendar = parts_.calendar();
  for (const ForgottenUpdate& update : forgotten) {
    BLOOMRING_TRY(check_update(update));
    RedisChange change;
    change.shard = update.user.shard();
    change.logical_key = forgotten_key(update.user);
    change.key = parts_.keys.forgotten(update.user);
    change.replace =
        update.forgotten.empty() ? std::string() : encode_forgotten(update.forgotten, change.logical_key);
    if (const auto read = read_bytes_.find(change.logical_key); read != read_bytes_.end()) change.read = read->second;
    for (int32_t period = update.removed_from.value; period < update.removed_to.value; ++period)
      change.removed.push_back(parts_.keys.filter(update.user, calendar.config().unit, PeriodIndex(period)));
    if (const int64_t newest_ms = update.forgotten.newest_ms(); newest_ms > 0)
      change.expires_ms = calendar.expires_at_ms(update.user.hash, calendar.period_of_ms(newest_ms));
    out.push_back(std::move(change));
  }
  return {};
}

Status RedisPartitionWriter::prepare(std::span<const FilterUpdate> updates, std::vector<RedisChange>& out) {
  const Calendar& calendar = parts_.calendar();
  const int64_t now_ms = parts_.clock.now_ms();
  for (const FilterUpdate& update : updates) {
    BLOOMRING_TRY(check_update(update));
    if (!calendar.kept(update.user.hash, update.period, now_ms)) {
      ++parts_.expired;
      continue;
    }
    RedisChange change;
    change.shard = update.user.shard();
    change.logical_key = filter_key(update.user, calendar.config().unit, update.period);
    change.key = parts_.keys.filter(update.user, calendar.config().unit, update.period);
    change.operand = filter::make(update.items, update.user.key, change.logical_key, parts_.config.policy);
    change.closed = calendar.closed(update.period, now_ms);
    change.expires_ms = calendar.expires_at_ms(update.user.hash, update.period);
    ++parts_.updates;
    out.push_back(std::move(change));
  }
  return {};
}

void RedisPartitionWriter::begin_apply(std::span<const ForgottenUpdate> forgotten,
                                       std::span<const FilterUpdate> updates) {
  std::vector<RedisChange> first, second;
  Status prepared = injected_failure("store.apply");
  if (prepared.ok()) prepared = prepare(forgotten, first);
  if (prepared.ok()) prepared = prepare(updates, second);
  read_bytes_.clear();  // The next read tells what is there then.
  if (!prepared.ok()) return end_at_once(std::move(prepared));
  const auto apply = std::make_shared<RedisApply>(RedisWriteParts{parts_, writes_, fence_}, std::move(first),
                                                  std::move(second));  // Shared with its requests.
  operation_ = apply;
  apply->begin();
}

void RedisPartitionWriter::begin_sync() {
  if (Status injected = injected_failure("store.sync"); !injected.ok()) return end_at_once(std::move(injected));
  const auto advance =
      std::make_shared<RedisAdvance>(RedisWriteParts{parts_, marks_, fence_}, std::nullopt);  // As above.
  operation_ = advance;
  advance->begin();
}

void RedisPartitionWriter::begin_advance(const MergedWatermark& watermark) {
  if (Status injected = injected_failure("store.advance"); !injected.ok()) return end_at_once(std::move(injected));
  const auto advance = std::make_shared<RedisAdvance>(RedisWriteParts{parts_, marks_, fence_}, watermark);  // As above.
  operation_ = advance;
  advance->begin();
}

std::optional<Status> RedisPartitionWriter::poll() {
  if (ended_) return std::exchange(ended_, std::nullopt);
  if (!operation_) return std::nullopt;
  std::optional<Status> ended = operation_->take_end();
  if (!ended) return std::nullopt;
  if (reading_ && ended->ok()) {
    forgotten_ = reading_->take();
    read_bytes_ = reading_->take_bytes();
  }
  reading_.reset();
  operation_.reset();
  return ended;
}

}  // namespace bloomring
