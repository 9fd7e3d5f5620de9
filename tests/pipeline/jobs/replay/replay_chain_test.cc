// A month of plays, and two installations: one was live all the time, the other one from the middle of the month on,
// and gets the month by a replay while it goes on. In the end both know the same.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>

#include "tests/pipeline/jobs/replay/one_installation.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kHours = 30 * 24;
constexpr int64_t kMiddleHour = 15 * 24;
constexpr int64_t kReplayHour = 20 * 24;

// The law of schemas/event.h, on plain sets.
struct Known {
  std::map<std::string, int64_t> played, forgotten;  // By item: the newest.
  int64_t everything_ms = 0;
  void take(const Happening& one) {
    if (one.kind == EventKind::kPlay) played[one.item] = std::max(played[one.item], one.time_ms);
    if (one.kind == EventKind::kForget) forgotten[one.item] = std::max(forgotten[one.item], one.time_ms);
    if (one.kind == EventKind::kForgetAll) everything_ms = std::max(everything_ms, one.time_ms);
  }
  bool seen(const std::string& item) const {
    const auto forget = forgotten.find(item);
    return played.at(item) > std::max(everything_ms, forget == forgotten.end() ? 0 : forget->second);
  }
};

std::vector<Happening> month() {
  std::vector<Happening> all;
  Random random(11);
  std::map<std::string, std::vector<std::string>> items;
  const auto happen = [&](int64_t time_ms, EventKind kind, const std::string& user, const std::string& item) {
    all.push_back({time_ms, kind, user, item});
    if (kind == EventKind::kPlay) items[user].push_back(item);
  };
  for (int64_t hour = 0; hour < kHours; ++hour) {
    const int64_t from_ms = kStartMs + hour * kHourMs;
    for (int i = 0; i < 9; ++i) {
      const int64_t time_ms = from_ms + (i + 1) * 240'000;
      happen(time_ms, EventKind::kPlay, "heavy", "h" + std::to_string(hour * 9 + i));  // 6,480 items: the dense form.
      const std::string user = "quiet-" + std::to_string(random() % 5);
      happen(time_ms + 1, EventKind::kPlay, user, "v" + std::to_string(random() % 900));
      const std::string regrets = "regrets-" + std::to_string(random() % 5);
      happen(time_ms + 2, EventKind::kPlay, regrets, "v" + std::to_string(random() % 900));
      const std::vector<std::string>& played = items[regrets];
      // Items of the whole month until then, some of which are played again later.
      if (one_in(random, 4)) happen(time_ms + 3, EventKind::kForget, regrets, played[random() % played.size()]);
    }
    const std::string clears = "regrets-" + std::to_string(hour / 200);
    if (hour % 200 == 150) happen(from_ms + 3'000'000, EventKind::kForgetAll, clears, "");
  }
  return all;
}

void live(Installation& installation, const std::vector<Happening>& all, int64_t from_hour, int64_t to_hour) {
  size_t next = 0;
  while (next < all.size() && all[next].time_ms < kStartMs + from_hour * kHourMs) ++next;
  for (int64_t hour = from_hour; hour < to_hour; ++hour) {
    const int64_t end_ms = kStartMs + (hour + 1) * kHourMs;
    for (; next < all.size() && all[next].time_ms < end_ms - 1'000; ++next) installation.happen(all[next]);
    installation.advance_to(end_ms);
  }
}

// Of everything that is in its topic of plays, at so many records a step.
void replay(Installation& to) {
  SimReplayLog source(to.log, {{"plays", 1}});
  ReplayJobConfig config;
  config.topics = {"plays"};
  const auto job = ReplayJob::create(config, source, std::make_unique<SimSink>(to.log), to.calendar, to.clock);
  REQUIRE(job.ok());
  REQUIRE((*job)->begin({}).ok());
  for (int steps = 0;; ++steps) {
    REQUIRE(steps < 100'000);
    const auto step = (*job)->step(40, to.clock.now_ms());
    REQUIRE(step.ok());
    if (step->done) break;
    to.log.pump();
    if (steps % 8 == 7) to.advance_to(to.clock.now_ms() + 1);
  }
  CHECK((*job)->progress().done == (*job)->progress().total);
  CHECK_FALSE((*job)->differences());
}

}  // namespace

TEST_CASE("replay: an installation that had half a month knows what one does that was live all the time, and no more") {
  const std::vector<Happening> all = month();
  std::map<std::string, Known> users;
  for (const Happening& one : all) users[one.user].take(one);

  Installation always(kStartMs), half(kStartMs + kMiddleHour * kHourMs);
  live(always, all, 0, kHours);
  live(half, all, 0, kReplayHour);
  REQUIRE_FALSE(half.says_seen("heavy", "h0"));  // Of the first half.
  replay(half);
  // The replay took time of its own.
  const int64_t now_hour = (half.clock.now_ms() - kStartMs) / kHourMs + 1;
  for (const Happening& one : all) {
    const int64_t hour = (one.time_ms - kStartMs) / kHourMs;
    if (hour >= kReplayHour && hour < now_hour) half.happen(one);
  }
  live(half, all, now_hour, kHours);
  for (Installation* one : {&always, &half}) one->advance_to(one->clock.now_ms() + 9 * kHourMs);

  const auto rows = half.rows();
  size_t compared = 0;
  for (const auto& [key, value] : always.rows()) {
    if (key.first.starts_with("regrets")) continue;  // Filters only unite: those hold what was forgotten later.
    CAPTURE(key.first, key.second);
    REQUIRE(rows.contains(key));
    const bool equal = rows.at(key) == value;
    CAPTURE(rows.at(key).size(), value.size());
    CHECK(equal);
    ++compared;
  }
  CHECK(compared == 6);

  size_t seen = 0, forgotten = 0;
  for (const auto& [user, known] : users) {
    for (const auto& [item, time_ms] : known.played) {
      const bool must = known.seen(item);
      CAPTURE(user, item);
      CHECK(always.says_seen(user, item) == must);
      CHECK(half.says_seen(user, item) == must);
      ++(must ? seen : forgotten);
    }
  }
  CHECK(seen > 8'000);
  CHECK(forgotten > 500);
}

}  // namespace bloomring::simulation
