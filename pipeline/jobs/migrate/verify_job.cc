#include "pipeline/jobs/migrate/verify_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "pipeline/jobs/migrate/error_rate.h"
#include "state/legacy/legacy_request.h"

namespace bloomring {

namespace {

constexpr uint64_t kSampleSeed = 0x7665726966792031;  // Another hash than that of shards.
// Below the bounds that a service has by default: users of a batch, items of a user with its probes, items in all.
constexpr size_t kCallsAtOnce = 200;
constexpr size_t kItemsOfCall = 10'000;
constexpr size_t kItemsAtOnce = 150'000;
constexpr double kMillion = 1e6;

std::string probe_of(const LegacySet& set, uint32_t number) {
  return "bloomring-probe-" + std::to_string(hash_bytes(set.key, kSampleSeed)) + "-" + std::to_string(number);
}

}  // namespace

VerifyJob::VerifyJob(VerifyConfig config, VerifyParts parts)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      feed_(
          parts_.keys, parts_.layout,
          [this](uint64_t user_hash) {
            const std::string_view bytes(reinterpret_cast<const char*>(&user_hash), sizeof user_hash);
            return static_cast<double>(hash_bytes(bytes, kSampleSeed) >> 11) * 0x1p-53 < config_.sample;
          },
          [this](const std::string&, LegacyRefusal refusal) { refused_.add(refusal); }) {}

Status VerifyJob::begin(const JobStart& start) {
  const JobCounts& counts = start.counts;
  sets_ = count_of(counts, "sets");
  asked_ = count_of(counts, "asked");
  late_ = count_of(counts, "seen_late");
  removed_ = count_of(counts, "removed");
  missing_ = count_of(counts, "missing");
  expired_ = count_of(counts, "expired");
  probes_ = count_of(counts, "probes");
  false_positives_ = count_of(counts, "false_positives");
  expected_ = static_cast<double>(count_of(counts, "expected_error_ppm")) / kMillion * static_cast<double>(probes_);
  refused_ = RefusalCounts::of_report(counts);
  BLOOMRING_TRY_ASSIGN(total_, parts_.keys.total());
  total_ = static_cast<uint64_t>(static_cast<double>(total_) * config_.sample);
  return feed_.begin(start.position);
}

JobCounts VerifyJob::counts() const {
  const double error = probes_ == 0 ? 0 : expected_ / static_cast<double>(probes_);
  JobCounts counts = {{"sets", "", sets_},
                      {"asked", "", asked_},
                      {"missing", "", missing_},
                      {"seen_late", "", late_},
                      {"removed", "", removed_},
                      {"expired", "", expired_},
                      {"probes", "", probes_},
                      {"false_positives", "", false_positives_},
                      {"expected_error_ppm", "", static_cast<uint64_t>(std::llround(error * kMillion))}};
  refused_.append_to(counts);
  return counts;
}

bool VerifyJob::too_many_false() const {
  return above_rate(false_positives_, probes_, config_.false_positive_rate);
}

size_t VerifyJob::sets_for(uint64_t units_max) const {
  const uint64_t mean = pages_ == 0 ? config_.page_members : std::max<uint64_t>(1, read_ / pages_);
  return std::clamp<size_t>(units_max / mean, 1, config_.sets_at_once);
}

FilterCall VerifyJob::call_about(const LegacySet& set) const {
  FilterCall call;
  call.user = set.user.user();
  call.scene = set.user.scene();
  call.strict = true;
  return call;
}

Result<std::vector<FilterReply>> VerifyJob::ask(const std::vector<FilterCall>& calls) const {
  std::vector<FilterReply> replies;
  std::vector<FilterCall> some;
  size_t items = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    some.push_back(calls[i]);
    items += calls[i].items.size();
    const bool full = some.size() == kCallsAtOnce || items + kItemsOfCall > kItemsAtOnce;
    if (!full && i + 1 < calls.size()) continue;
    BLOOMRING_TRY_ASSIGN(std::vector<Result<FilterReply>> answers, parts_.ask(some));
    for (Result<FilterReply>& answer : answers) {
      BLOOMRING_TRY(answer.status());
      if (!answer->complete) return retry("the service gave an answer that is not complete");
      replies.push_back(std::move(*answer));
    }
    some.clear();
    items = 0;
  }
  return replies;
}

// A member that queries answer for.
bool VerifyJob::wants(const LegacyMember& member, PeriodIndex oldest, int64_t now_ms, std::string& item) {
  LegacyPlay play;
  const LegacyRefusal refusal = parts_.layout.read_member(member.member, member.score, now_ms, play);
  if (refusal != LegacyRefusal::kNone) {
    refused_.add(refusal);
    return false;
  }
  if (parts_.calendar.period_of_ms(play.time_ms) < oldest) {
    ++expired_;
    return false;
  }
  item = play.item;
  return true;
}

Status VerifyJob::take_answer(OpenSet& open, RedisAnswer answer, int64_t now_ms, std::vector<Question>& questions,
                              bool& more) {
  more = false;
  RedisReply& reply = answer->front();
  if (reply.error()) {
    if (redis_error(reply.bytes) != RedisError::kWrongType)
      return redis_failure(reply, "ZRANGEBYSCORE " + open.set.key, parts_.client.config().names);
    refused_.add(LegacyRefusal::kWrongType);
    return {};
  }
  BLOOMRING_TRY_ASSIGN(std::vector<LegacyMember> page, open.cursor.take(std::move(reply)));
  more = !open.cursor.done();
  read_ += page.size();
  ++pages_;
  // Plays that leave the window within the next rounds are not asked either.
  const PeriodIndex oldest = parts_.calendar.window(now_ms + kRounds * config_.settle_ms).back();
  Question question{call_about(open.set), {}, &open};
  std::string item;
  for (LegacyMember& member : page) {
    if (!wants(member, oldest, now_ms, item)) continue;
    question.call.items.push_back(item);
    question.members.push_back(std::move(member));
    if (question.call.items.size() < kItemsOfCall) continue;
    questions.push_back(std::move(question));
    question = {call_about(open.set), {}, &open};
  }
  for (uint32_t i = 0; i < config_.probes && !open.probed; ++i) question.call.items.push_back(probe_of(open.set, i));
  open.probed = true;
  if (!question.call.items.empty()) questions.push_back(std::move(question));
  return {};
}

void VerifyJob::judge(const Question& question, const FilterReply& reply, int64_t now_ms) {
  const size_t members = question.members.size();
  asked_ += members;
  Doubt doubt{question.open->set, {}, 1, now_ms + config_.settle_ms};
  for (size_t i = 0; i < members; ++i)
    if (!reply.items[i].seen) doubt.members.push_back(question.members[i]);
  for (size_t i = members; i < reply.items.size(); ++i) {
    ++probes_;
    false_positives_ += reply.items[i].seen ? 1 : 0;
    expected_ += reply.expected_error;
  }
  if (doubt.members.empty()) return;
  doubted_ += doubt.members.size();
  feed_.hold(doubt.set.step);
  doubts_.push_back(std::move(doubt));
}

// Items asked about. The pages of all sets are read, and all questions answered, before anything counts: a failure
// leaves everything as it was.
Result<uint64_t> VerifyJob::ask_about_pages(size_t sets_max, int64_t now_ms) {
  std::deque<OpenSet> reading;  // Copies: their pages count once the questions are answered.
  std::vector<RedisRequest> requests;
  for (size_t i = 0; i < std::min(sets_max, open_.size()); ++i) {
    reading.push_back(open_[i]);
    requests.push_back(legacy_request(reading.back().set.key, reading.back().cursor.command()));
  }
  std::vector<RedisAnswer> answers = parts_.client.call_all(std::move(requests));
  for (const RedisAnswer& answer : answers) BLOOMRING_TRY(answer.status());
  const auto take_back = [this, expired = expired_, pages = pages_, read = read_, refused = refused_] {
    expired_ = expired;
    pages_ = pages;
    read_ = read;
    refused_ = refused;
  };
  std::vector<Question> questions;
  std::vector<bool> more(reading.size());
  for (size_t i = 0; i < reading.size(); ++i) {
    bool goes_on = false;
    const Status taken = take_answer(reading[i], std::move(answers[i]), now_ms, questions, goes_on);
    if (!taken.ok()) take_back();
    BLOOMRING_TRY(Status(taken));
    more[i] = goes_on;
  }
  std::vector<FilterCall> calls;
  for (const Question& question : questions) calls.push_back(question.call);
  const auto replies = ask(calls);
  if (!replies.ok()) take_back();
  BLOOMRING_TRY(replies.status());
  uint64_t items = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    items += questions[i].call.items.size();
    judge(questions[i], (*replies)[i], now_ms);
  }
  for (size_t i = 0; i < reading.size(); ++i) open_.pop_front();
  for (size_t i = reading.size(); i-- > 0;) {
    if (more[i]) {
      open_.push_front(std::move(reading[i]));
    } else {
      ++sets_;
      feed_.release(reading[i].set.step);
    }
  }
  return items;
}

Result<uint64_t> VerifyJob::ask_about_doubts(int64_t now_ms) {
  Doubt& first = doubts_.front();
  FilterCall call = call_about(first.set);
  for (const LegacyMember& member : first.members) {
    LegacyPlay play;
    static_cast<void>(parts_.layout.read_member(member.member, member.score, now_ms, play));
    call.items.emplace_back(play.item);
  }
  BLOOMRING_TRY_ASSIGN(const std::vector<FilterReply> replies, ask({call}));
  std::vector<LegacyMember> unseen;
  for (size_t i = 0; i < first.members.size(); ++i)
    if (!replies[0].items[i].seen) unseen.push_back(first.members[i]);
  if (first.rounds + 1 >= kRounds && !unseen.empty()) BLOOMRING_TRY(end_doubt(first, unseen));
  Doubt doubt = std::move(first);
  doubts_.pop_front();
  late_ += doubt.members.size() - unseen.size();
  if (++doubt.rounds < kRounds && !unseen.empty()) {
    doubted_ -= doubt.members.size() - unseen.size();
    doubt.members = std::move(unseen);
    doubt.due_ms = now_ms + config_.settle_ms;
    doubts_.push_back(std::move(doubt));
    return call.items.size();
  }
  doubted_ -= doubt.members.size();
  feed_.release(doubt.set.step);
  return call.items.size();
}

// Members that were unseen in every round: those that the old store still has are missing.
Status VerifyJob::end_doubt(const Doubt& doubt, const std::vector<LegacyMember>& unseen) {
  std::string commands;
  for (const LegacyMember& member : unseen) append_redis_command(commands, {"ZSCORE", doubt.set.key, member.member});
  BLOOMRING_TRY_ASSIGN(
      const std::vector<RedisReply> scores,
      parts_.client.call(legacy_request(doubt.set.key, std::move(commands), static_cast<uint32_t>(unseen.size()))));
  for (size_t i = 0; i < unseen.size(); ++i) {
    if (scores[i].error()) return redis_failure(scores[i], "ZSCORE", parts_.client.config().names);
    if (scores[i].is(RedisReply::Kind::kNil)) {
      ++removed_;
      continue;
    }
    ++missing_;
    parts_.missing.add({{"key", doubt.set.key},
                        {"user", std::string(doubt.set.user.user())},
                        {"scene", std::string(doubt.set.user.scene())},
                        {"member", unseen[i].member},
                        {"score", scores[i].bytes},
                        {"reason", "missing"}});
  }
  fault_point("verify.missing");
  return {};
}

// The members that are missing are in their file before the position passes them.
Result<JobStep> VerifyJob::step(uint64_t units_max, int64_t now_ms) {
  Result<JobStep> worked = work(units_max, now_ms);
  BLOOMRING_TRY(parts_.missing.flush());
  return worked;
}

Result<JobStep> VerifyJob::work(uint64_t units_max, int64_t now_ms) {
  if (units_max == 0) return JobStep{};
  if (!doubts_.empty() && doubts_.front().due_ms <= now_ms) {
    BLOOMRING_TRY_ASSIGN(const uint64_t items, ask_about_doubts(now_ms));
    return JobStep{items, false};
  }
  uint64_t items = 0;
  if (doubted_ < kDoubtsMax) {
    BLOOMRING_TRY(feed_.fill());
    const size_t sets_max = sets_for(units_max);
    while (open_.size() < sets_max && !feed_.empty()) {
      LegacySet set = feed_.take();
      LegacySetCursor cursor(set.key, config_.page_members);
      open_.push_back({std::move(set), std::move(cursor)});
    }
    if (!open_.empty()) {
      BLOOMRING_TRY_ASSIGN(items, ask_about_pages(sets_max, now_ms));
      fault_point("verify.asked");
    }
  }
  return JobStep{items, feed_.done() && open_.empty() && doubts_.empty()};
}

Result<JobPlan> VerifyJob::plan() {
  JobPlan plan;
  plan.facts = config_.facts;
  BLOOMRING_TRY_ASSIGN(const uint64_t keys, parts_.keys.total());
  plan.total = static_cast<uint64_t>(static_cast<double>(keys) * config_.sample);
  plan.touches.push_back("asks the service, and changes nothing");
  return plan;
}

}  // namespace bloomring
