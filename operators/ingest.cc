#include "operators/ingest.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "base/scatter.h"
#include "schemas/topics.h"

namespace bloomring {

namespace {

// A producer's retries come soon, so few marks catch them; 2^16 of them cost 40 ns a play more in cache misses.
constexpr size_t kRecentMarks = 1 << 14;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Random in each process: with public numbers, somebody could send an event whose mark is that of another user's event
// and make that one a repeat. Event times are below 2^49, so the kind has room above them.
uint64_t mark_of(uint64_t user, const Event& event) {
  const uint64_t when = static_cast<uint64_t>(event.time_ms) | static_cast<uint64_t>(event.kind) << 56;
  return scatter(scatter(user, event.item.value), when) | 1;  // 0 means empty.
}

}  // namespace

int64_t event_time_ms(const Play& play, const IngestTime& now) {
  if (!is_forget(play.kind)) return std::min(play.latest_ms, now.latest_ms);
  return play.time_ms <= now.earliest_ms ? play.time_ms : now.earliest_ms - 1;
}

Ingest::Ingest(IngestConfig config)
    : config_(config),
      parser_(config.mapping),
      blocks_(config.partition_count),
      recent_(config.drop_repeats ? kRecentMarks : 0),
      earliest_open_ms_(kNever) {}

bool Ingest::is_repeat(uint64_t user_hash, const Event& event) {
  if (recent_.empty()) return false;
  const uint64_t mark = mark_of(user_hash, event);
  uint64_t& place = recent_[(mark >> 40) % kRecentMarks];
  if (place == mark) return true;
  place = mark;
  return false;
}

void Ingest::count_ahead(int64_t time_ms, int64_t now_ms) {
  ++(time_ms > now_ms + config_.mapping.ahead_ms ? stats_.far_ahead : stats_.ahead);
}

const Ingest::Outcome& Ingest::take(std::string_view json, const IngestTime& opened, const Gate* gate,
                                    const IngestTime* judge) {
  const IngestTime& now = judge == nullptr ? opened : *judge;
  const bool first_time = gate == nullptr || !gate->again;
  Play play;
  outcome_.refusal = parser_.parse(json, now.latest_ms, play);
  outcome_.packed = false;
  if (outcome_.refusal != Refusal::kNone) {
    if (first_time) ++stats_.refused[static_cast<size_t>(outcome_.refusal)];
    return outcome_;
  }
  if (play.skip != Skip::kNone) {
    if (first_time) ++stats_.skipped[static_cast<size_t>(play.skip)];
    return outcome_;
  }
  user_key_.clear();
  user_key_.push_back(static_cast<char>(play.scene.size()));
  user_key_.append(play.scene);
  user_key_.append(play.user);
  const UserRef user(user_key_);
  const PartitionId partition = partition_of(user.shard(), config_.partition_count);
  if (gate != nullptr && !gate->lets_through(partition)) return outcome_;
  const ItemHash item = play.kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(play.item);
  const Event event{play.kind, item, event_time_ms(play, now)};
  const bool packed = pack(user, partition, event, opened.earliest_ms);
  if (packed && play.time_ms > now.latest_ms) count_ahead(play.time_ms, now.latest_ms);
  return outcome_;
}

const Ingest::Outcome& Ingest::take_event(const UserRef& user, const Event& event, const IngestTime& now,
                                          const IngestTime& judge) {
  outcome_.refusal = Refusal::kNone;
  outcome_.packed = false;
  Play play;
  play.kind = event.kind;
  play.time_ms = play.latest_ms = event.time_ms;
  const int64_t time_ms = event_time_ms(play, judge);
  pack(user, partition_of(user.shard(), config_.partition_count), {event.kind, event.item, time_ms}, now.earliest_ms);
  return outcome_;
}

bool Ingest::pack(const UserRef& user, PartitionId partition, const Event& event, int64_t now_ms) {
  if (config_.takes && !config_.takes(user, event)) return false;
  if (is_repeat(user.hash, event)) {
    ++stats_.repeats;
    return false;
  }
  ++stats_.accepted;
  OpenBlock& block = blocks_[static_cast<size_t>(partition.value)];
  if (block.builder.events() == 0) {
    block.opened_ms = now_ms;
    earliest_open_ms_ = std::min(earliest_open_ms_, block.opened_ms);
  }
  block.builder.add(user, event);
  outcome_.packed = true;
  outcome_.partition = partition;
  outcome_.time_ms = event.time_ms;
  outcome_.full = block.builder.events() >= config_.block_events || block.builder.bytes_max() >= config_.block_bytes;
  return true;
}

std::string Ingest::close_block(PartitionId partition) {
  OpenBlock& block = blocks_[static_cast<size_t>(partition.value)];
  if (block.builder.events() == 0) return {};
  std::string bytes = block.builder.finish(partition, config_.partition_count);
  BLOOMRING_CHECK(bytes.size() <= kRecordBytesMax, "an event block is larger than its topic takes");
  ++stats_.blocks;
  stats_.block_bytes += bytes.size();
  return bytes;
}

void Ingest::start_over() {
  for (OpenBlock& block : blocks_) block = OpenBlock();
  std::ranges::fill(recent_, 0);
  earliest_open_ms_ = kNever;
}

const std::vector<PartitionId>& Ingest::due(int64_t now_ms) {
  due_.clear();
  if (now_ms - earliest_open_ms_ < config_.linger_ms && earliest_open_ms_ <= now_ms) return due_;
  if (earliest_open_ms_ == kNever) return due_;
  earliest_open_ms_ = kNever;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const OpenBlock& block = blocks_[i];
    if (block.builder.events() == 0) continue;
    // A block opened after `now_ms` is due too: otherwise a clock that was set back would keep it open.
    if (now_ms - block.opened_ms >= config_.linger_ms || block.opened_ms > now_ms) {
      due_.push_back(PartitionId(static_cast<int32_t>(i)));
    } else {
      earliest_open_ms_ = std::min(earliest_open_ms_, block.opened_ms);
    }
  }
  return due_;
}

}  // namespace bloomring
