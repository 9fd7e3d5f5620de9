// The laws of generated load: deterministic, ordered, exact in number, and shaped as it says.
#include "load/load_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

using namespace bloomring;

namespace {

constexpr int64_t kMidnightMs = 1'792'800'000'000 / 86'400'000 * 86'400'000;
constexpr int64_t kHourMs = 3'600'000;

LoadConfig small_load() {
  LoadConfig config;
  config.users = 1'000;
  config.plays = 100'000;
  config.start_ms = kMidnightMs;
  return config;
}

std::vector<LoadPlay> all_plays(const LoadConfig& config) {
  LoadModel model(config);
  std::vector<LoadPlay> plays;
  for (LoadPlay play; model.next(play);) plays.push_back(play);
  return plays;
}

std::string json_of(const std::vector<LoadPlay>& plays) {
  std::string all, json;
  const LoadPlayWriter writer;
  for (const LoadPlay& play : plays) {
    writer.write(play, json);
    all += json;
  }
  return all;
}

}  // namespace

TEST_CASE("load model: the same seed gives the same plays, another seed gives others") {
  LoadConfig config = small_load();
  const std::string plays = json_of(all_plays(config));
  CHECK(json_of(all_plays(config)) == plays);
  config.seed = 2;
  CHECK(json_of(all_plays(config)) != plays);
}

TEST_CASE("load model: exactly as many plays as asked for, in the order of their times, within the span") {
  LoadConfig config = small_load();
  config.plays = GENERATE(0u, 1u, 99'991u);
  config.hours = GENERATE(1u, 24u, 50u);
  const std::vector<LoadPlay> plays = all_plays(config);
  REQUIRE(plays.size() == config.plays);
  CHECK(std::is_sorted(plays.begin(), plays.end(), [](const auto& a, const auto& b) { return a.time_ms < b.time_ms; }));
  for (const LoadPlay& play : plays) {
    REQUIRE(play.user < config.users);
    REQUIRE((play.item >= 1 && play.item <= config.items));
    REQUIRE((play.time_ms >= config.start_ms && play.time_ms < config.start_ms + config.hours * kHourMs));
  }
}

TEST_CASE("load model: users play by a log-normal distribution") {
  LoadConfig config = small_load();
  config.users = 20'000;
  config.plays = 2'000'000;
  const LoadModel model(config);
  std::vector<uint64_t> counts;
  for (uint32_t user = 0; user < config.users; ++user) counts.push_back(model.plays_of(user));
  std::sort(counts.begin(), counts.end());
  // Of a log-normal: median = mean / exp(sigma^2 / 2), p90 = median * exp(1.2816 sigma).
  CHECK(static_cast<double>(counts[10'000]) == Approx(100 / 1.4).epsilon(0.05));
  CHECK(static_cast<double>(counts[18'000]) == Approx(100 / 1.4 * 2.86).epsilon(0.05));
}

TEST_CASE("load model: the part of repeats is what was asked for") {
  LoadConfig config = small_load();
  config.repeats = GENERATE(0.0, 0.05, 0.5);
  const std::vector<LoadPlay> plays = all_plays(config);
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const LoadPlay& play : plays) seen.emplace(play.user, play.item);
  const double repeated = 1 - static_cast<double>(seen.size()) / static_cast<double>(plays.size());
  CHECK(repeated >= config.repeats * 0.9);
  CHECK(repeated <= config.repeats + 0.01);  // Popular items are met again by chance.
}

TEST_CASE("load model: evenings are busier than nights, and plays come in sessions") {
  const std::vector<LoadPlay> plays = all_plays(small_load());
  std::vector<uint64_t> hours(24);
  std::map<uint32_t, int64_t> last_ms;
  size_t soon = 0;
  for (const LoadPlay& play : plays) {
    ++hours[static_cast<size_t>((play.time_ms - kMidnightMs) / kHourMs)];
    const auto [last, first] = last_ms.try_emplace(play.user, play.time_ms);
    if (!first && play.time_ms - last->second < 120'000) ++soon;
    last->second = play.time_ms;
  }
  CHECK(hours[21] > 5 * hours[4]);
  CHECK(soon > plays.size() * 9 / 10);
}

TEST_CASE("load model: a play is written as producers write it") {
  const LoadPlay play{.user = 17, .item = 4, .time_ms = 1'792'800'000'123};
  std::string json, id;
  LoadPlayWriter().write(play, json);
  const auto fields = nlohmann::json::parse(json);
  CHECK(fields["user"] == "u17");
  CHECK(fields["item"] == "v4");
  CHECK(fields["time"] == 1'792'800'000'123);
  CHECK(fields["event"] == "play");
  CHECK(fields["progress_ms"] <= fields["duration_ms"]);
  LoadPlayWriter({}, 6).write(play, json);
  CHECK(nlohmann::json::parse(json)["user"] == "u00017");
  write_user_id(play, 6, id);
  CHECK(id == "u00017");
}
