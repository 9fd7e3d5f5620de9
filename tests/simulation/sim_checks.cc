// The law that the simulated world is held to.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "filter/filter.h"
#include "filter/fingerprints.h"
#include "filter/ladder.h"
#include "operators/replica_start.h"
#include "schemas/event_block.h"
#include "schemas/store_key.h"
#include "serving/query/forget_time.h"
#include "tests/simulation/sim_world.h"

namespace bloomring::simulation {

namespace {

const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";
const std::string kDead = "plays-dead";
using Header = std::pair<std::string, std::string>;

// By how much the clocks of the processes that forget served items, or expire filters, may be ahead.
constexpr int64_t kServedMarginMs = 5'000;
constexpr int64_t kExpiryMarginMs = 60'000;

// The store is away, or the log has lost what is not merged yet, and the answer says so.
bool says_it_lacks(const FilterAnswer& answer) {
  return std::ranges::any_of(answer.gaps, [](const Gap& gap) {
    return gap.source == AnswerSource::kFilters || gap.reason.find("lost records") != std::string::npos;
  });
}

}  // namespace

// How much of the log an answer has, or says that it may lack: what was acknowledged more than five seconds ago.
size_t World::acknowledged_end(int32_t p) const {
  constexpr int64_t kPromisedMs = 5'000;
  const auto young = [&](const LoggedRecord& record) { return record.appended_ms >= clock_.now_ms() - kPromisedMs; };
  return static_cast<size_t>(std::ranges::find_if(logged_[p], young) - logged_[p].begin());
}

std::map<std::string, UserOracle> World::oracle_of(int32_t p, size_t end, bool of_replica) const {
  const ByOffset* replica_hours = of_replica ? &replica_hours_[p] : nullptr;
  const auto log_start = static_cast<size_t>(log_.start_of(kEvents, PartitionId(p)).value);
  BlindStarts blind = blind_[p];
  if (of_replica) blind.without_record_below.insert(replica_blind_[p].begin(), replica_blind_[p].end());
  const LogFacts facts{before_[p], made_anew_, logged_at_restore_[p], clock_wrong_from_[p],
                       blind,      log_start,  replica_hours,         ring_.slot_ms};
  return read_log(logged_[p], end, acknowledged_end(p), facts, calendar_);
}

// A replica must answer by the law about all that it has applied, or noted by a call.
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
  const std::vector<PeriodIndex> window = calendar_.window(clock_.now_ms());  // Whatever the replica's is.
  std::vector<ItemHash> seen, unseen;
  // Where the replica's clock is ahead too, merged hours tell the time, and these may have ended an hour early.
  const int64_t early_ms = clocks_go_wrong_ ? ring_.slot_ms : 0;
  const int64_t served_from_ms = clock_.now_ms() - served_[p].age_max_ms + kServedMarginMs + early_ms;
  const std::vector<ItemHash> served_lately = user.served(served_[p].per_user_max, served_from_ms);
  for (const ItemHash item : user.items()) {
    if (user.must_be_seen(item, window.back(), window.front()))
      seen.push_back(item);
    else if (user.must_be_unseen(item) && !user.was_served(item))
      unseen.push_back(item);
  }
  FilterQuestion question;
  question.user = user_key;
  const std::vector<ItemHash> acknowledged = user.must_be_seen_or_told(window.back(), window.front());
  question.ids = acknowledged;
  check_complete(core_->answer(*held_[p], question), acknowledged.size());
  seen.insert(seen.end(), served_lately.begin(), served_lately.end());
  question.ids = seen;
  FilterAnswer answer = core_->answer(*held_[p], question);
  if (says_it_lacks(answer)) return;
  ++tally_.queries;
  tally_.queried += seen.size();
  tally_.served += served_lately.size();
  CAPTURE(p, user_key, answer.seen_count);
  REQUIRE(answer.seen_count == seen.size());
  question.ids = unseen;
  answer = core_->answer(*held_[p], question);
  if (says_it_lacks(answer)) return;
  tally_.forgotten += unseen.size();
  for (const CandidateVerdict& found : answer.verdicts) {
    REQUIRE(found.verdict.reason == Reason::kFilter);
    check_collision(user_key, user, unseen[found.candidate], answer.periods[found.verdict.period]);
  }
}

// An answer that lacks what the log has had for five seconds says so, whatever the replica has read.
void World::check_complete(const FilterAnswer& answer, size_t acknowledged) {
  tally_.complete += answer.gaps.empty();
  if (answer.seen_count == acknowledged) return;
  CAPTURE(answer.seen_count, acknowledged);
  REQUIRE(!answer.gaps.empty());
  ++tally_.lacking;
}

// A forget by call reaches to the time of the call: what comes after it, by any clock of ours, counts.
void World::check_forget_time(int64_t time_ms) const {
  const int64_t off_ms = time_ms - clock_.now_ms();
  // A forget reaches to the newest log time of what it covers.
  REQUIRE(off_ms <= clocks_off_max_ms() + log_.ahead_max_ms);
  REQUIRE(off_ms >= -clocks_off_max_ms() - kForgetShortMaxMs);
}

// The filter of this period says that the user has seen this item, which no play that counts is of. Nothing else
// excuses it than another item of that filter: one that was played then and has the same fingerprint in as many bits as
// the filter keeps. (A cached filter that is older keeps as many or more. Of one that a forget has removed from the
// store since, it is only known that it kept the fewest bits that any is written with.)
void World::check_collision(const std::string& user_key, const UserOracle& user, ItemHash item, PeriodIndex period) {
  const std::string store_key = filter_key(user_key, calendar_.config().unit, period);
  const MemoryFilterStore::Rows rows = filters_->backup();  // Also while the store is away.
  CAPTURE(user_key, item.value, period.value);
  const auto row = rows.find(store_key);
  const filter::Ladder ladder = filter::ladder_of({.false_positive_rate = false_positive_rate_max_});
  const uint32_t width_bits =
      row == rows.end() ? ladder.folded_bits(1) : filter::summarize(row->second, store_key)->width_bits;
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
    const std::map<std::string, UserOracle> users = oracle_of(p, logged_[p].size());
    for (size_t offset = 0; offset < logged_[p].size(); ++offset) {
      const Offset at(static_cast<int64_t>(offset));
      if (!watermark.covers({at, Offset(at.value + 1)}) || logged_[p][offset].lost) continue;
      for (const auto& [user, event] : logged_[p][offset].events) {
        const PeriodIndex period = calendar_.period_of_ms(event.time_ms);
        if (event.kind != EventKind::kPlay || !users.at(user).counts(event.item, event.time_ms)) continue;
        if (!calendar_.kept(user_hash(user), period, clock_.now_ms() + kExpiryMarginMs)) continue;
        const std::optional<bool> found = in_filters(user, std::span(&period, 1), event.item);
        if (!found) return;
        CAPTURE(p, offset, user, period.value);
        REQUIRE(*found);
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

// Each event of the log was said by somebody, with this very time, and no play happened after it was logged.
void World::read_new_records() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto& records = log_.partition(kEvents, PartitionId(p));
    for (size_t offset = logged_[p].size(); offset < records.size(); ++offset) {
      logged_[p].push_back({records[offset].log_time_ms, records[offset].appended_ms, {}});
      if (records[offset].gap) continue;
      auto reader = EventBlockReader::open(records[offset].value, PartitionId(p), kPartitions);
      REQUIRE(reader.ok());
      while (reader->next_user()) {
        const std::string user(reader->user_key());
        while (reader->next_event()) {
          const Event& event = reader->event();
          CAPTURE(p, offset, user, event.item.value, event.time_ms, static_cast<int>(event.kind));
          if (!ledger_.was_said(user, event)) FAIL("nobody said it; said:" << ledger_.said_times(user, event));
          CAPTURE(records[offset].appended_ms, ingest_clock_.off_ms(), broker_clock_.off_ms());
          if (event.kind == EventKind::kPlay)
            REQUIRE(event.time_ms <= records[offset].appended_ms + clocks_off_max_ms());
          ledger_.logged(user, event);
          logged_[p].back().events.push_back({user, event});
          tally_.forgets += is_forget(event.kind);
        }
      }
    }
  }
  const auto& letters = log_.partition(kDead, PartitionId(0));
  for (; letters_seen_ < letters.size(); ++letters_seen_) {
    const StoredRecord& letter = letters[letters_seen_];
    const auto cut = std::ranges::find(letter.headers, "bloomring.error.value_bytes", &Header::first);
    ledger_.dead_lettered(letter.value, cut == letter.headers.end() ? letter.value.size() : std::stoul(cut->second));
    CAPTURE(letter.value.substr(0, 100));
    const std::string reason = letter.value.find("no time") != std::string::npos ? "wrong_type" : "too_large";
    CAPTURE(letter.headers.at(0).second, clock_.now_ms(), ingest_clock_.off_ms(), broker_clock_.off_ms());
    REQUIRE(letter.headers.at(0) == Header("bloomring.error.reason", reason));
  }
}

// A log that ends before what was merged or read is another one, or was cut: no stage begins to read it, whatever the
// operator accepts. A replica does not know what was read. True when the window stage may start.
bool World::check_start(int32_t p) {
  const Offset log_end = log_.end(kEvents, PartitionId(p));
  const std::optional<MergedWatermark> merged = *filters_->read_watermark(PartitionId(p));
  const std::optional<WindowState>& local = disks_[p]->current.state;
  const bool may_start = known_end(p) <= log_end;
  CAPTURE(p, known_end(p).value, log_end.value);
  for (const bool accept : {false, true})
    REQUIRE(decide_window_start({local, merged, Offset(0), log_end, accept}).ok() == may_start);
  const bool may_serve = !merged || (merged->ahead.empty() ? merged->offset : merged->ahead.back().to) <= log_end;
  REQUIRE(decide_replica_start({{merged, Offset(0), log_end}, std::nullopt}).ok() == may_serve);
  return may_start;
}

// Each play that ingest has committed is in the log or in the dead letters.
void World::check_ingest_commits() {
  for (int32_t p = 0; p < kPlaysPartitions; ++p) {
    const int64_t next = log_.committed("ingest", "plays", PartitionId(p));
    CAPTURE(p, next);
    REQUIRE(ledger_.missing_below(static_cast<size_t>(p), next) == "");
  }
}

// Each record of a drain stands before its slot end, and the merge stage commits behind a slot end only.
void World::check_drain_order() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto& records = log_.partition(kBatches, PartitionId(p));
    const size_t ends_before = drains_[p].slot_ends();
    for (size_t offset = drains_[p].seen(); offset < records.size(); ++offset) {
      if (records[offset].gap) {
        drains_[p].saw_gap();
        continue;
      }
      CAPTURE(p, offset);
      REQUIRE(drains_[p].saw(records[offset].value, PartitionId(p), kPartitions) == "");
    }
    tally_.slot_ends += drains_[p].slot_ends() - ends_before;
    CAPTURE(p);
    const int64_t start = log_.start(kBatches, PartitionId(p)).value;
    REQUIRE(drains_[p].committed(log_.committed("merge", kBatches, PartitionId(p)), start) == "");
  }
}

// Each play that the plays topics took is in the log.
void World::check_all_in_log() { REQUIRE(ledger_.missing() == ""); }

// Everything is merged: the filters alone answer by the law.
void World::check_all_in_filters() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    for (const auto& [user_key, user] : oracle_of(p, logged_[p].size())) {
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
      check_false_positives(p, user_key);
    }
  }
}

// Items that nobody played are seen as often as the answer expects; the tally is judged over all seeds. Everything is
// merged and heard, so the answer lacks nothing.
void World::check_false_positives(int32_t p, const std::string& user_key) {
  std::vector<ItemHash> never(1'000);
  for (ItemHash& item : never) item = ItemHash(random_());
  FilterQuestion question;
  question.user = user_key;
  question.ids = never;
  const FilterAnswer answer = core_->answer(*held_[p], question);
  CAPTURE(p, user_key);
  REQUIRE(answer.gaps.empty());
  REQUIRE(answer.expected_error <= false_positive_rate_max_);
  constexpr double kRarely = 1e-4;
  Tally::Probes& probes = answer.expected_error < kRarely ? tally_.rarely : tally_.often;
  probes.asked += never.size();
  probes.seen += answer.seen_count;
  probes.expected += answer.expected_error * static_cast<double>(never.size());
}

void World::check_refused() {
  for (const auto& [name, times] : refused_) {
    CAPTURE(name);
    REQUIRE(ledger_.dead_letters(name) >= times);
  }
}

}  // namespace bloomring::simulation
