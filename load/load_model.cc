#include "load/load_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/result.h"

namespace bloomring {

namespace {

constexpr int64_t kHourMs = 3'600'000;

// Plays of a user in 31 days.
constexpr double kMonthPlaysMedian = 8594;
constexpr double kMonthPlaysSigma = 0.82;
constexpr double kMonthPlaysMin = 100;
constexpr double kMonthPlaysMax = 228'000;

// Thousands of plays by hour of the day.
constexpr std::array<double, 24> kHourWeights = {10625, 6463,  4132,  2911,  2617,  3693,  6874,  9969,
                                                 11545, 12947, 14427, 15442, 17029, 17132, 15455, 15768,
                                                 16594, 17526, 18845, 19871, 21315, 22117, 21859, 17123};

constexpr double kSessionPlaysMean = 20;
constexpr double kSessionPlaysMax = 200;
constexpr double kGapMeanMs = 14'000;
constexpr double kGapMinMs = 1'000;
constexpr double kFlatHead = 1000;  // Ranks below it are played about equally often.

void append_id(char letter, uint64_t number, uint32_t id_bytes, std::string& out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const auto bytes = static_cast<uint32_t>(end - digits) + 1;
  out.push_back(letter);
  if (bytes < id_bytes) out.append(id_bytes - bytes, '0');
  out.append(digits, end);
}

}  // namespace

uint64_t LoadRandom::bits() {
  // SplitMix64 (Steele, Lea, Flood 2014) with Stafford's thirteenth mix.
  uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

double LoadRandom::exponential(double mean) { return -mean * std::log1p(-unit()); }

double LoadRandom::normal() {
  // Box and Muller; the second value is not kept, so that the state stays one word.
  const double radius = std::sqrt(exponential(2.0));
  return radius * std::cos(2.0 * std::numbers::pi * unit());
}

bool LoadModel::Session::operator<(const Session& other) const {
  if (due_ms != other.due_ms) return due_ms > other.due_ms;
  if (user != other.user) return user > other.user;
  return plays_left > other.plays_left;
}

LoadModel::LoadModel(const LoadConfig& config)
    : config_(config),
      end_ms_(config.start_ms + int64_t{config.hours} * kHourMs),
      random_(config.seed),
      played_(config.users),
      last_items_(config.users) {
  BLOOMRING_CHECK(config.users > 0 && config.items > 0 && config.hours > 0, "load model: users, items and hours");
  share_out_plays();
  plan_sessions();
}

// Rounds the running total, so that the sum is exact.
void LoadModel::share_out_plays() {
  std::vector<double> totals;
  double total = 0;
  for (uint32_t user = 0; user < config_.users; ++user) {
    const double plays = kMonthPlaysMedian * std::exp(kMonthPlaysSigma * random_.normal());
    total += std::clamp(plays, kMonthPlaysMin, kMonthPlaysMax);
    totals.push_back(total);
  }
  uint64_t given = 0;
  for (const double until : totals) {
    const auto upto = static_cast<uint64_t>(std::llround(until / total * static_cast<double>(config_.plays)));
    plays_of_.push_back(upto - given);
    given = upto;
  }
}

void LoadModel::plan_sessions() {
  double sum = 0;
  for (uint32_t hour = 0; hour < config_.hours; ++hour) {
    sum += kHourWeights[static_cast<size_t>((config_.start_ms / kHourMs + hour) % 24)];
    hours_until_.push_back(sum);
  }
  for (uint32_t user = 0; user < config_.users; ++user) {
    for (uint64_t left = plays_of_[user]; left > 0;) {
      const double wanted = std::min(1 + random_.exponential(kSessionPlaysMean - 1), kSessionPlaysMax);
      const auto plays = std::min(left, static_cast<uint64_t>(wanted));
      sessions_.push_back({session_start_ms(), user, static_cast<uint32_t>(plays)});
      left -= plays;
    }
  }
  std::sort(sessions_.begin(), sessions_.end(), [](const Session& a, const Session& b) { return b < a; });
}

int64_t LoadModel::session_start_ms() {
  const double place = random_.unit() * hours_until_.back();
  const auto hour = std::upper_bound(hours_until_.begin(), hours_until_.end(), place) - hours_until_.begin();
  return config_.start_ms + hour * kHourMs + static_cast<int64_t>(random_.unit() * static_cast<double>(kHourMs));
}

uint32_t LoadModel::choose_item(uint32_t user) {
  LastItems& last = last_items_[user];
  uint32_t& played = played_[user];
  const auto kept = std::min<uint64_t>(played, kLastItems);
  if (kept > 0 && random_.unit() < config_.repeats) return last[random_.bits() % kept];
  // The inverse of the cumulative distribution ln((rank + head) / head), rank in [0, items).
  const double ratio = (static_cast<double>(config_.items) + kFlatHead) / kFlatHead;
  const double rank = kFlatHead * (std::pow(ratio, random_.unit()) - 1);
  const auto item = std::min(static_cast<uint32_t>(rank), config_.items - 1) + 1;
  last[played++ % kLastItems] = item;
  return item;
}

bool LoadModel::next(LoadPlay& play) {
  while (begun_ < sessions_.size() && (under_way_.empty() || under_way_.top() < sessions_[begun_])) {
    under_way_.push(sessions_[begun_++]);
  }
  if (under_way_.empty()) return false;
  Session session = under_way_.top();
  under_way_.pop();
  play = {session.user, choose_item(session.user), session.due_ms};
  if (--session.plays_left > 0) {
    session.due_ms += static_cast<int64_t>(kGapMinMs + random_.exponential(kGapMeanMs));
    session.due_ms = std::min(session.due_ms, end_ms_ - 1);
    under_way_.push(session);
  }
  return true;
}

void write_user_id(const LoadPlay& play, uint32_t id_bytes, std::string& id) {
  id.clear();
  append_id('u', play.user, id_bytes, id);
}

void write_item_id(const LoadPlay& play, uint32_t id_bytes, std::string& id) {
  id.clear();
  append_id('v', play.item, id_bytes, id);
}

LoadPlayWriter::LoadPlayWriter(const PlayMapping& mapping, uint32_t id_bytes)
    : id_bytes_(id_bytes), template_(mapping) {}

void LoadPlayWriter::write(const LoadPlay& play, std::string& json) const {
  // The watched and total durations do not matter here, but real plays have them.
  const uint64_t duration_ms = 5'000 + play.item * 7'919ULL % 85'000;
  const uint64_t watched_ms = static_cast<uint64_t>(play.time_ms) * 31 % (duration_ms + 1);
  std::string user = "\"", item = "\"";
  append_id('u', play.user, id_bytes_, user);
  append_id('v', play.item, id_bytes_, item);
  template_.write(user += '"', item += '"', play.time_ms, watched_ms, duration_ms, json);
}

}  // namespace bloomring
