#include "pipeline/jobs/migrate/migrate_job.h"

#include <algorithm>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "schemas/legacy/migrated_marks.h"
#include "state/legacy/legacy_request.h"

namespace bloomring {

namespace {

constexpr size_t kSampleSets = 200;
constexpr size_t kSampleMembers = 100;  // Of each.

void warn_of(const RefusalCounts& refused, JobPlan& plan) {
  for (size_t i = 0; i < kLegacyRefusalCount; ++i) {
    const auto refusal = static_cast<LegacyRefusal>(i);
    if (refused.of(refusal) == 0) continue;
    std::string warning = std::to_string(refused.of(refusal)) + " of the sample would be refused as " +
                          std::string(legacy_refusal_name(refusal));
    if (refusal == LegacyRefusal::kTimeTooEarly || refusal == LegacyRefusal::kTimeAhead)
      warning += ": is migrate.score_unit right?";
    if (refusal == LegacyRefusal::kForeignKey) warning += ": do migrate.keys name every kind of set?";
    plan.warnings.push_back(std::move(warning));
  }
}

}  // namespace

MigrateJob::MigrateJob(MigrateConfig config, MigrateParts parts)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      feed_(
          parts_.keys, parts_.layout, [this](uint64_t user_hash) { return config_.share.has(user_hash); },
          [this](const std::string& key, LegacyRefusal refusal) { refuse(key, refusal); }) {}

Status MigrateJob::begin(const JobStart& start) {
  sets_ = count_of(start.counts, "sets");
  plays_ = count_of(start.counts, "plays");
  expired_ = count_of(start.counts, "expired");
  marked_ = count_of(start.counts, "marked");
  refused_ = RefusalCounts::of_report(start.counts);
  BLOOMRING_TRY_ASSIGN(total_, parts_.keys.total());
  total_ /= config_.share.count;
  BLOOMRING_TRY_ASSIGN(sink_, parts_.open_sink());
  return feed_.begin(start.position);
}

JobCounts MigrateJob::counts() const {
  JobCounts counts = {{"sets", "", sets_}, {"plays", "", plays_}, {"expired", "", expired_}};
  if (marked_ > 0) counts.push_back({"marked", "", marked_});
  refused_.append_to(counts);
  return counts;
}

void MigrateJob::refuse(const std::string& key, LegacyRefusal refusal, const LegacyMember* member) {
  refused_.add(refusal);
  std::vector<std::pair<std::string, std::string>> fields = {{"key", key}};
  if (member != nullptr) fields.insert(fields.end(), {{"member", member->member}, {"score", member->score}});
  fields.emplace_back("reason", legacy_refusal_name(refusal));
  parts_.refused.add(fields);
}

Status MigrateJob::take_acks() {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  if (acks_.empty()) return {};
  for (const uint64_t block : acks_) {
    feed_.release(blocks_.at(block));
    blocks_.erase(block);
  }
  fault_point("migrate.acknowledged");
  return {};
}

Status MigrateJob::send_unsent() {
  while (!unsent_.empty()) {
    const Status sent = sink_->send(unsent_.front().record, unsent_.front().block);
    if (sent.code() == Code::kRetry) return {};  // The queue is full; acknowledgements make room.
    BLOOMRING_TRY(Status(sent));
    unsent_.pop_front();
    fault_point("migrate.block_sent");
  }
  return {};
}

// So many sets that their pages have about as many plays as may be taken, by the mean so far.
size_t MigrateJob::sets_for(uint64_t units_max) const {
  const uint64_t mean = pages_ == 0 ? config_.page_members : std::max<uint64_t>(1, members_ / pages_);
  return std::clamp<size_t>(units_max / mean, 1, config_.sets_at_once);
}

void MigrateJob::open_sets(size_t sets_max) {
  while (open_.size() < sets_max && !feed_.empty()) {
    LegacySet set = feed_.take();
    LegacySetCursor cursor(set.key, config_.page_members);
    const uint64_t hash = user_hash(set.user.bytes());
    open_.push_back({std::move(set), std::move(cursor), hash});
  }
}

void MigrateJob::close_block(uint64_t step, PartitionId partition) {
  if (builder_.events() == 0) return;
  feed_.hold(step);
  blocks_[next_block_] = step;
  unsent_.push_back({{config_.events_topic, partition, {}, builder_.finish(partition, config_.partition_count), {}},
                     next_block_++});
}

// Blocks are acknowledged in any order, and a record comes behind those that were acknowledged before it was sent.
void MigrateJob::mark_sets(int64_t now_ms) {
  while (!unmarked_.empty() && (blocks_.empty() || blocks_.begin()->first >= unmarked_.front().blocks_end)) {
    const UnmarkedSet& done = unmarked_.front();
    const UserRef user(done.set.user.bytes(), done.user_hash);
    for (const ItemHash mark : migrated_marks(done.set.key, config_.marks_false_positive_rate))
      builder_.add(user, {EventKind::kPlay, mark, now_ms});
    close_block(done.set.step, partition_of(user.shard(), config_.partition_count));
    feed_.release(done.set.step);
    ++marked_;
    unmarked_.pop_front();
  }
}

void MigrateJob::take_page(const OpenSet& open, const std::vector<LegacyMember>& page, int64_t now_ms) {
  const UserRef user(open.set.user.bytes(), open.user_hash);
  const PartitionId partition = partition_of(user.shard(), config_.partition_count);
  for (const LegacyMember& member : page) {
    LegacyPlay play;
    const LegacyRefusal refusal = parts_.layout.read_member(member.member, member.score, now_ms, play);
    if (refusal != LegacyRefusal::kNone) {
      refuse(open.set.key, refusal, &member);
      continue;
    }
    if (!parts_.calendar.kept(user.hash, parts_.calendar.period_of_ms(play.time_ms), now_ms)) {
      ++expired_;
      continue;
    }
    ++plays_;
    builder_.add(user, {EventKind::kPlay, item_hash(play.item), play.time_ms});
    if (builder_.events() >= config_.block_events) close_block(open.set.step, partition);
  }
  close_block(open.set.step, partition);
}

// Members read. A failure leaves the set as it was: its page is asked for again.
Result<uint64_t> MigrateJob::take_answer(OpenSet& open, RedisAnswer answer, int64_t now_ms, bool& more) {
  more = true;
  BLOOMRING_TRY(answer.status());
  RedisReply& reply = answer->front();
  if (reply.error() && redis_error(reply.bytes) != RedisError::kWrongType)
    return redis_failure(reply, "ZRANGEBYSCORE " + open.set.key, parts_.client.config().names);
  if (reply.error()) {
    refuse(open.set.key, LegacyRefusal::kWrongType);
    more = false;
    return uint64_t{0};
  }
  BLOOMRING_TRY_ASSIGN(const std::vector<LegacyMember> page, open.cursor.take(std::move(reply)));
  take_page(open, page, now_ms);
  more = !open.cursor.done();
  return uint64_t{page.size()};
}

Result<uint64_t> MigrateJob::read_pages(size_t sets_max, int64_t now_ms) {
  std::vector<RedisRequest> requests;
  for (const OpenSet& open : open_) {
    if (requests.size() == sets_max) break;
    requests.push_back(legacy_request(open.set.key, open.cursor.command()));
  }
  std::vector<RedisAnswer> answers = parts_.client.call_all(std::move(requests));
  uint64_t members = 0;
  Status failure;
  std::deque<OpenSet> left;
  for (RedisAnswer& answer : answers) {
    bool more = false;
    const auto read = take_answer(open_.front(), std::move(answer), now_ms, more);
    if (read.ok()) {
      members += *read;
      ++pages_;
    } else if (failure.ok()) {
      failure = read.status();
    }
    if (more) {
      left.push_back(std::move(open_.front()));
    } else {
      ++sets_;
      OpenSet& read_whole = open_.front();
      if (config_.marks_false_positive_rate > 0) {
        unmarked_.push_back({std::move(read_whole.set), read_whole.user_hash, next_block_});
      } else {
        feed_.release(read_whole.set.step);
      }
    }
    open_.pop_front();
  }
  for (; !left.empty(); left.pop_back()) open_.push_front(std::move(left.back()));
  members_ += members;
  BLOOMRING_TRY(Status(failure));
  return members;
}

// Each refusal is in its file before the position passes it.
Result<JobStep> MigrateJob::step(uint64_t units_max, int64_t now_ms) {
  Result<JobStep> worked = work(units_max, now_ms);
  BLOOMRING_TRY(parts_.refused.flush());
  return worked;
}

Result<JobStep> MigrateJob::work(uint64_t units_max, int64_t now_ms) {
  BLOOMRING_TRY(take_acks());
  mark_sets(now_ms);
  BLOOMRING_TRY(send_unsent());
  if (units_max == 0 || !unsent_.empty()) return JobStep{};
  BLOOMRING_TRY(feed_.fill());
  const size_t sets_max = sets_for(units_max);
  open_sets(sets_max);
  uint64_t members = 0;
  if (!open_.empty()) {
    BLOOMRING_TRY_ASSIGN(members, read_pages(sets_max, now_ms));
    fault_point("migrate.read");
    BLOOMRING_TRY(send_unsent());
  }
  return JobStep{members, feed_.done() && open_.empty() && unsent_.empty()};
}

// Sets that are half read are read again by the next start.
Result<bool> MigrateJob::settle(int64_t now_ms) {
  BLOOMRING_TRY(take_acks());
  mark_sets(now_ms);
  BLOOMRING_TRY(send_unsent());
  BLOOMRING_TRY(parts_.refused.flush());
  return blocks_.empty() && unmarked_.empty();
}

// The number of members of these sets, and how many of the oldest ones would be refused.
Status MigrateJob::look_at_sets(const std::vector<std::string>& keys, Sample& sample) const {
  std::vector<RedisRequest> requests;
  std::vector<LegacySetCursor> cursors;
  for (const std::string& key : keys) {
    LegacySetCursor& cursor = cursors.emplace_back(key, kSampleMembers);
    std::string commands = cursor.command();
    append_redis_command(commands, {"ZCARD", key});
    requests.push_back(legacy_request(key, std::move(commands), 2));
  }
  std::vector<RedisAnswer> answers = parts_.client.call_all(std::move(requests));
  for (size_t i = 0; i < answers.size(); ++i) {
    BLOOMRING_TRY(answers[i].status());
    std::vector<RedisReply>& replies = *answers[i];
    ++sample.sets;
    if (replies[0].error()) {
      if (redis_error(replies[0].bytes) != RedisError::kWrongType)
        return redis_failure(replies[0], "ZRANGEBYSCORE", parts_.client.config().names);
      sample.refused.add(LegacyRefusal::kWrongType);
      continue;
    }
    if (!replies[1].error()) sample.members += static_cast<uint64_t>(replies[1].integer);
    BLOOMRING_TRY_ASSIGN(const std::vector<LegacyMember> page, cursors[i].take(std::move(replies[0])));
    for (const LegacyMember& member : page) {
      LegacyPlay play;
      const auto refusal = parts_.layout.read_member(member.member, member.score, parts_.now_ms, play);
      if (refusal != LegacyRefusal::kNone) sample.refused.add(refusal);
    }
  }
  return {};
}

// The first keys of a pattern.
Result<std::vector<std::string>> MigrateJob::choose_sample(Sample& sample) const {
  std::vector<std::string> chosen;
  while (chosen.size() < kSampleSets) {
    BLOOMRING_TRY_ASSIGN(auto some, parts_.keys.next());
    if (!some) break;
    for (std::string& key : *some) {
      UserKey user;
      const LegacyRefusal refusal = parts_.layout.read_key(key, user);
      if (refusal != LegacyRefusal::kNone) sample.refused.add(refusal);
      if (refusal == LegacyRefusal::kNone && chosen.size() < kSampleSets) chosen.push_back(std::move(key));
    }
  }
  return chosen;
}

Result<JobPlan> MigrateJob::plan() {
  BLOOMRING_TRY(parts_.keys.begin(""));
  JobPlan plan;
  plan.facts = config_.facts;
  BLOOMRING_TRY_ASSIGN(const uint64_t keys, parts_.keys.total());
  plan.total = keys / config_.share.count;
  Sample sample;
  BLOOMRING_TRY_ASSIGN(const std::vector<std::string> chosen, choose_sample(sample));
  BLOOMRING_TRY(look_at_sets(chosen, sample));
  if (sample.sets == 0) {
    plan.warnings.push_back("no key of the old store is of a pattern of migrate.keys: there is nothing to migrate");
  } else {
    const uint64_t plays = sample.members * plan.total / sample.sets;
    plan.facts.push_back({"plays", "about " + std::to_string(plays) + ", by " + std::to_string(sample.members) +
                                       " in a sample of " + std::to_string(sample.sets) + " sets"});
  }
  warn_of(sample.refused, plan);
  plan.touches.push_back("appends plays to " + config_.events_topic + ", as ingest does");
  return plan;
}

}  // namespace bloomring
