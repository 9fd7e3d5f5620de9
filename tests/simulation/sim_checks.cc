// The law that the simulated world is held to.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "schemas/store_key.h"
#include "state/filter/filter.h"
#include "state/filter/fingerprints.h"
#include "tests/simulation/sim_world.h"

namespace bloomring::simulation {

namespace {

const std::string kEvents = "user-events";
const std::string kDead = "plays-dead";

bool filters_missing(const FilterAnswer& answer) {
  return std::ranges::any_of(answer.gaps, [](const Gap& gap) { return gap.source == AnswerSource::kFilters; });
}

}  // namespace

std::map<std::string, UserOracle> World::oracle_of(int32_t p, size_t end, bool of_replica) const {
  const ByOffset* replica_hours = of_replica ? &replica_hours_[p] : nullptr;
  const LogFacts facts{logged_at_restore_[p], hours_[p], blind_[p], replica_hours, ring_.slot_ms};
  return read_log(log_.partition(kEvents, PartitionId(p)), end, facts, calendar_);
}

// What a replica has applied, or noted by a call, it must answer by the law.
void World::check_queries(int32_t p) {
  if (!replicas_[p] || replica_outdated_[p]) return;
  // The store may know of later forgets than the replica has read so far.
  const int64_t applied = replicas_[p]->next().value;
  std::map<std::string, UserOracle> users = oracle_of(p, static_cast<size_t>(applied), true);
  for (const Noted& noted : noted_[p]) {
    if (noted.offset < applied) continue;
    users.try_emplace(noted.user_key, calendar_).first->second.happened(noted.event, false);
  }
  for (const auto& [user_key, user] : users) check_user(p, user_key, user);
}

void World::check_user(int32_t p, const std::string& user_key, const UserOracle& user) {
  const std::vector<PeriodIndex> window = calendar_.window(clock_.now_ms());
  std::vector<ItemHash> seen, unseen;
  const std::vector<ItemHash> served_lately = user.served(served().per_user_max, clock_.now_ms() - served().age_max_ms);
  for (const ItemHash item : user.items()) {
    if (user.must_be_seen(item, window.back(), window.front()))
      seen.push_back(item);
    else if (user.must_be_unseen(item) && !user.was_served(item))
      unseen.push_back(item);
  }
  seen.insert(seen.end(), served_lately.begin(), served_lately.end());
  FilterQuestion question;
  question.user_key = user_key;
  question.ids = seen;
  FilterAnswer answer = core_->answer(*held_[p], question);
  if (filters_missing(answer)) return;  // The store is away, and the answer says so.
  ++tally_.queries;
  tally_.queried += seen.size();
  tally_.served += served_lately.size();
  CAPTURE(p, user_key, answer.seen_count);
  REQUIRE(answer.seen_count == seen.size());
  question.ids = unseen;
  answer = core_->answer(*held_[p], question);
  if (filters_missing(answer)) return;
  tally_.forgotten += unseen.size();
  for (const Finding& finding : answer.findings) {
    REQUIRE(finding.verdict.reason == Reason::kFilter);
    check_collision(user_key, user, unseen[finding.candidate], answer.periods[finding.verdict.period]);
  }
}

// The filter of this period says that the user has seen this item, which no play that counts is of. Nothing else
// excuses it than another item of that filter: one that was played then and has the same fingerprint in as many bits as
// the filter keeps. (A cached filter that is older keeps as many or more.)
void World::check_collision(const std::string& user_key, const UserOracle& user, ItemHash item, PeriodIndex period) {
  const std::string store_key = filter_key(user_key, calendar_.config().unit, period);
  const MemoryFilterStore::Rows rows = filters_->backup();  // Also while the store is away.
  CAPTURE(user_key, item.value, period.value);
  REQUIRE(rows.contains(store_key));
  const uint32_t width_bits = filter::summarize(rows.find(store_key)->second, store_key)->width_bits;
  const uint64_t multiplier = user_multiplier(user_key);
  const auto fingerprint = [&](ItemHash of) { return filter::fingerprint_of(of, multiplier, width_bits); };
  CAPTURE(width_bits);
  REQUIRE(std::ranges::any_of(user.played_in(period), [&](ItemHash other) {
    return other != item && fingerprint(other) == fingerprint(item);
  }));
  ++tally_.forgotten_seen;
}

std::optional<bool> World::in_filters(const std::string& user_key, std::span<const PeriodIndex> periods,
                                      ItemHash item) {
  std::vector<StoredFilter> stored;
  Forgotten forgotten;
  const Status status = filters_->read(user_key, periods, stored, forgotten);
  if (status.code() == Code::kRetry) return std::nullopt;
  REQUIRE(status.ok());
  const ForgetView view({}, forgotten, calendar_);
  for (const StoredFilter& one : stored) {
    if (!view.filter_counts(one.period) || view.masked(item, one.period)) continue;
    filter::Query query;
    REQUIRE(query.add(one.value, one.store_key).ok());
    uint8_t found = filter::Query::kUnseen;
    query.run(std::span(&item, 1), user_key, std::span(&found, 1));
    if (found != filter::Query::kUnseen) return true;
  }
  return false;
}

// Every play in the log that the watermark covers, and that counts, is in the filter of its period; the watermark never
// goes back.
void World::check_watermarks() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto read = filters_->read_watermark(PartitionId(p));
    if (!read.ok() || !*read) continue;
    const MergedWatermark& watermark = **read;
    REQUIRE(watermark.offset.value >= watermark_floor_[p]);
    watermark_floor_[p] = watermark.offset.value;
    const auto& records = log_.partition(kEvents, PartitionId(p));
    const std::map<std::string, UserOracle> users = oracle_of(p, records.size());
    for (size_t offset = 0; offset < records.size(); ++offset) {
      const Offset at(static_cast<int64_t>(offset));
      if (!watermark.covers({at, Offset(at.value + 1)})) continue;
      auto reader = EventBlockReader::open(records[offset].value, PartitionId(p), kPartitions);
      REQUIRE(reader.ok());
      while (reader->next_user()) {
        const std::string user(reader->user_key());
        while (reader->next_event()) {
          const Event& event = reader->event();
          const PeriodIndex period = calendar_.period_of_ms(event.time_ms);
          if (event.kind != EventKind::kPlay || !users.at(user).counts(event.item, event.time_ms)) continue;
          if (!calendar_.kept(user_hash(user), period, clock_.now_ms())) continue;
          const std::optional<bool> found = in_filters(user, std::span(&period, 1), event.item);
          if (!found) return;
          CAPTURE(p, offset, user, period.value);
          REQUIRE(*found);
        }
      }
    }
  }
}

void World::check_custody() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const int64_t committed = log_.committed("window", kEvents, PartitionId(p));
    if (committed < 0) continue;
    const auto read = filters_->read_watermark(PartitionId(p));
    if (!read.ok()) continue;
    REQUIRE(read->has_value());
    CAPTURE(p);
    REQUIRE(committed <= (*read)->offset.value);
    committed_floor_[p] = committed;
  }
}

// What the plays topics took is in the log.
void World::check_all_in_log() {
  std::map<std::string, std::set<Produced>> logged;
  for (int32_t p = 0; p < kPartitions; ++p) {
    for (const StoredRecord& record : log_.partition(kEvents, PartitionId(p))) {
      EventBlockReader reader = EventBlockReader::reopen(record.value);
      while (reader.next_user()) {
        std::set<Produced>& of_user = logged[std::string(reader.user_key())];
        while (reader.next_event()) {
          const Event& event = reader.event();
          of_user.insert({event.kind, calendar_.period_of_ms(event.time_ms), event.item});
          tally_.forgets += is_forget(event.kind);
        }
      }
    }
  }
  for (const auto& [user, produced] : oracle_) {
    CAPTURE(user);
    REQUIRE(std::ranges::includes(logged[user], produced));
  }
}

// Everything is merged: the filters alone answer by the law.
void World::check_all_in_filters() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    for (const auto& [user_key, user] : oracle_of(p, log_.partition(kEvents, PartitionId(p)).size())) {
      const uint64_t hash = user_hash(user_key);
      for (const UserOracle::Play& play : user.plays()) {
        if (!calendar_.kept(hash, play.period, clock_.now_ms())) continue;
        CAPTURE(p, user_key, play.period.value, play.time_ms);
        const bool found = in_filters(user_key, std::span(&play.period, 1), play.item).value();
        if (user.counts(play.item, play.time_ms)) REQUIRE(found);
        if (!user.must_be_unseen(play.item)) continue;
        ++tally_.forgotten;
        if (found) check_collision(user_key, user, play.item, play.period);
      }
      for (int i = 0; i < 200; ++i) {
        const PeriodIndex period = calendar_.period_of_ms(clock_.now_ms());
        ++tally_.probes;
        tally_.false_positives +=
            in_filters(user_key, std::span(&period, 1), item_hash("never-" + std::to_string(i))).value();
      }
    }
  }
}

void World::check_refused() {
  std::map<std::string, uint64_t> found;
  for (const StoredRecord& letter : log_.partition(kDead, PartitionId(0))) {
    ++found[letter.value];
    REQUIRE(letter.headers.at(0) == std::pair<std::string, std::string>("bloomring.error.reason", "wrong_type"));
  }
  for (const auto& [bytes, times] : refused_) {
    CAPTURE(bytes);
    REQUIRE(found[bytes] >= times);
  }
}

}  // namespace bloomring::simulation
