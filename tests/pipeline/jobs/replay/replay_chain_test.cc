// A month of plays, and two installations: one was live all the time, the other one from the middle of the month on,
// and gets the month by a replay while it goes on. In the end both know the same.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/window_start.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "serving/query/candidate_filter.h"
#include "tests/pipeline/jobs/replay/replay_rig.h"
#include "tests/simulation/sim_disk.h"
#include "tests/support/filter_window.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kStartMs = 1'793'491'200'000;  // 2026-11-01T00:00:00Z.
constexpr int64_t kHours = 30 * 24;
constexpr int64_t kMiddleHour = 15 * 24;
constexpr int64_t kReplayHour = 20 * 24;
constexpr uint32_t kSlots = 6;
const PartitionId kPartition(0);

// The site: what its users did, in the order of the topic.
struct Happening {
  int64_t time_ms;
  EventKind kind;
  std::string user;
  std::string item;
};

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

// One installation with one partition, which reads a topic of plays.
class Installation {
 public:
  explicit Installation(int64_t since_ms) : since_ms_(since_ms) {
    log.trouble = 0;
    auto store = std::make_unique<SimWindowStore>(disk_);
    WindowTaskConfig config;
    config.window = {kPartition, 1, {kSlots, kHourMs}, 0.5};
    const auto start = decide_window_start({*store->load(), std::nullopt, Offset(0), Offset(0)});
    REQUIRE(start.ok());
    Window window = testing::filter_window(config.window, *store, *start);
    window_ = std::make_unique<WindowTask>(config, clock, std::move(store), std::move(window),
                                           testing::filter_log(filters), source("window", "user-events"),
                                           std::make_unique<SimSink>(log));
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1}, calendar, filters.take_over(kPartition).value(),
                                         std::nullopt);
    MergeTaskConfig merging;
    merging.partition = kPartition;
    merge_ = std::make_unique<MergeTask>(merging, std::move(merge), source("merge", "user-batches"),
                                         std::make_unique<SimSink>(log));
    held = std::make_shared<ReplicaPartition>(kPartition, RecentPlaysConfig{kHourMs, 64 << 20}, calendar, Offset(0));
    replica_ = std::make_unique<ReplicaTask>(ReplicaTaskConfig{1, kHourMs * kSlots}, clock, held, filters,
                                             source("serve", "user-events"), Offset(0), Offset(0));
    IngestTaskConfig ingest;
    ingest.ingest.drop_repeats = true;
    ingest_ = std::make_unique<IngestTask>(ingest, clock, std::make_unique<SimSink>(log));
  }

  void happen(const Happening& one) {
    clock.advance_to_ms(one.time_ms + 1'000);
    begin_to_read();
    constexpr std::string_view kNames[] = {"", "play", "serve", "forget", "forget_all"};
    log.append("plays", kPartition,
               testing::ReplayRig::json(std::string(kNames[static_cast<size_t>(one.kind)]), one.user, one.item,
                                        one.time_ms));
  }
  void advance_to(int64_t until_ms) {
    for (;; clock.advance_ms(600'000)) {
      step();
      if (clock.now_ms() >= until_ms) return;
    }
  }
  void step() {
    replica_->update_log_end(log.end("user-events", kPartition), clock.steady_ns());
    for (Task* task : {static_cast<Task*>(ingest_.get()), static_cast<Task*>(window_.get()),
                       static_cast<Task*>(merge_.get()), static_cast<Task*>(replica_.get())}) {
      for (int i = 0; i < 6; ++i) {
        const auto stepped = task->step(clock.now_ms());
        INFO(stepped.status().message());
        REQUIRE(stepped.ok());
        log.pump();
      }
    }
  }
  // By user and period.
  std::map<std::pair<std::string, int32_t>, std::string> rows() {
    std::map<std::pair<std::string, int32_t>, std::string> all;
    REQUIRE(filters.scan([&](const StoredFilter& one, std::string_view user_key) {
                     all[{std::string(user_key.substr(1)), one.period.value}] = one.value;
                     return true;
                   }).ok());
    return all;
  }
  bool says_seen(const std::string& user, const std::string& item) {
    CandidateFilter core(filters, calendar, clock, {});
    const UserKey key("", user);
    const std::vector<ItemHash> ids = {item_hash(item)};
    FilterQuestion question;
    question.user = key.bytes();
    question.ids = ids;
    const FilterAnswer answer = core.answer(*held, question);
    REQUIRE(answer.gaps.empty());
    return answer.seen_count == 1;
  }

  Random random{1};
  ManualClock clock{kStartMs};
  SimLog log{random, clock};
  Calendar calendar = *Calendar::create({});
  // So few false positives that none is expected among the forgotten items.
  MemoryFilterStore filters{filter::Policy{.false_positive_rate = 1e-5}, calendar, clock, 1};
  std::shared_ptr<ReplicaPartition> held;

 private:
  // From the end that the topic has at that time.
  void begin_to_read() {
    if (clock.now_ms() < since_ms_ || std::exchange(reading_, true)) return;
    const Offset end = log.end("plays", kPartition);
    ingest_->add_source("plays", kPartition, end,
                        std::make_unique<SimSource>(log, "ingest", "plays", kPartition, end));
  }
  std::unique_ptr<Source> source(const std::string& group, const std::string& topic) {
    return std::make_unique<SimSource>(log, group, topic, kPartition, Offset(0));
  }

  const int64_t since_ms_;
  bool reading_ = false;
  SimDisk disk_;
  std::unique_ptr<IngestTask> ingest_;
  std::unique_ptr<WindowTask> window_;
  std::unique_ptr<MergeTask> merge_;
  std::unique_ptr<ReplicaTask> replica_;
};

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
