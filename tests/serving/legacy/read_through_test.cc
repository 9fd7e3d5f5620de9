// Users of an old store over gRPC, before, while and after they are migrated.
#include "serving/legacy/read_through.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "schemas/legacy/migrated_marks.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// One set a user, in memory.
class OldStoreDouble final : public OldPlaysReader {
 public:
  static std::string key_of(std::string_view user) { return "hist:" + std::string(user); }
  void play(const std::string& user, const std::string& item, int64_t time_ms) {
    sets[key_of(user)].push_back({item_hash(item), time_ms});
  }
  std::vector<OldSet> sets_of(std::string_view user_key) const override {
    const std::string key = key_of(UserKey::from_bytes(user_key).user());
    return {{key, migrated_marks(key, 0.01)}};
  }
  void begin(std::vector<std::string> keys, int64_t since_ms, int64_t timeout_ms, Ended ended) override {
    ++reads;
    timeout_asked_ms = timeout_ms;
    OldPlays found;
    found.missing = missing;
    for (const std::string& key : keys) {
      for (const OldPlay& play : sets[key])
        if (play.time_ms >= since_ms) found.plays.push_back(play);
    }
    const std::lock_guard lock(mutex);
    if (stalled) return waiting.push_back([ended, found] { ended(found); });
    ended(found);
  }
  void go_on() {
    std::vector<std::function<void()>> all;
    {
      const std::lock_guard lock(mutex);
      stalled = false;
      all.swap(waiting);
    }
    for (const auto& end : all) end();
  }

  std::map<std::string, std::vector<OldPlay>> sets;
  std::string missing;             // FAULT: the reason why plays are missing.
  std::atomic<bool> stalled{false};  // FAULT: no answer until `go_on`.
  std::atomic<int> reads{0};
  std::atomic<int64_t> timeout_asked_ms{0};
  std::mutex mutex;
  std::vector<std::function<void()>> waiting;
};

struct Site {
  explicit Site(int64_t timeout_ms = 60'000) : served(config(old, timeout_ms)) {}
  ~Site() { old.go_on(); }
  static GrpcServerConfig config(OldStoreDouble& old, int64_t timeout_ms) {
    GrpcServerConfig made;
    made.service.read_through = {&old, timeout_ms};
    return made;
  }
  int64_t now_ms() const { return served.world.log_now_ms(); }

  v1::FilterResponse ask(const std::string& user, const std::vector<std::string>& items) {
    v1::FilterRequest request;
    request.set_user(user);
    for (const std::string& item : items) request.mutable_candidates()->add_text(item);
    request.set_explain(v1::EXPLAIN_LEVEL_VERDICTS);
    v1::FilterResponse response;
    REQUIRE(served.filter(request, &response).ok());
    return response;
  }
  bool sees(const std::string& user, const std::vector<std::string>& items) {
    const v1::FilterResponse response = ask(user, items);
    CHECK(response.complete());
    return response.seen_count() == items.size();
  }
  // What a migration appends to the log for a set, first.
  void append_plays(const std::string& user) {
    for (const OldPlay& play : old.sets[OldStoreDouble::key_of(user)])
      served.world.play_all(user, {play.item}, play.time_ms);
  }
  void append_marks(const std::string& user) {
    served.world.play_all(user, migrated_marks(OldStoreDouble::key_of(user), 0.01), now_ms());
  }

  OldStoreDouble old;
  Served served;
};

void wait_until(const std::function<bool()>& met) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!met()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("read through: the plays of an old set are seen at every moment of its migration, and then it is not read") {
  Site site;
  const std::vector<std::string> items = {"v1", "v2", "v3"};
  for (size_t i = 0; i < items.size(); ++i) site.old.play("u1", items[i], site.now_ms() - int64_t(i) * 30 * kDayMs);
  CHECK(site.sees("u1", items));
  CHECK(site.ask("u1", items).verdicts(0).reason() == v1::SEEN_REASON_RECENT);
  CHECK(site.ask("u1", {"other"}).seen_count() == 0);
  const int marks_merged_apart = GENERATE(0, 1);
  site.append_plays("u1");
  CHECK(site.sees("u1", items));
  if (marks_merged_apart == 1) {
    site.served.world.merge();
    site.served.world.release();
    site.served.world.advance_hours(7);
    site.served.world.release();
    CHECK(site.sees("u1", items));
  }
  const int before = site.old.reads;
  CHECK(before > 0);
  site.append_marks("u1");
  // From here on the old store is of no use, and nobody asks it.
  site.old.sets.clear();
  CHECK(site.sees("u1", items));
  site.served.world.merge();
  CHECK(site.sees("u1", items));
  site.served.world.release();
  CHECK(site.sees("u1", items));
  site.served.world.advance_hours(7);
  site.served.world.release();
  CHECK(site.sees("u1", items));
  CHECK(site.old.reads == before);
  CHECK(site.served.server->counters().old_migrated >= 4);
  CHECK(site.served.server->counters().old_united == static_cast<uint64_t>(before));
}

TEST_CASE("read through: marks in front of the plays would hide them, so a migration writes them behind") {
  Site site;
  site.old.play("u1", "v1", site.now_ms() - kDayMs);
  site.append_marks("u1");
  CHECK(site.ask("u1", {"v1"}).seen_count() == 0);
  CHECK(site.old.reads == 0);
}

TEST_CASE("read through: some of the marks, as a filter may show them wrongly, are no marks") {
  Site site;
  site.old.play("u1", "v1", site.now_ms() - kDayMs);
  std::vector<ItemHash> marks = migrated_marks(OldStoreDouble::key_of("u1"), 0.01);
  marks.pop_back();
  site.served.world.play_all("u1", marks, site.now_ms());
  CHECK(site.sees("u1", {"v1"}));
  site.served.world.merge();
  CHECK(site.sees("u1", {"v1"}));
}

TEST_CASE("read through: an old store that cannot be read makes answers incomplete, and says why") {
  Site site;
  site.old.play("u1", "v1", site.now_ms() - kDayMs);
  site.served.world.play("u1", "v2");
  site.old.missing = "old store: a set has more members than the 10 that are read";
  const v1::FilterResponse response = site.ask("u1", {"v1", "v2", "v3"});
  CHECK_FALSE(response.complete());
  CHECK(response.seen_count() == 2);  // What was found counts.
  REQUIRE(response.gaps_size() == 1);
  CHECK(response.gaps(0).source() == v1::ANSWER_SOURCE_FILTERS);
  CHECK(response.gaps(0).reason() == site.old.missing);
  CHECK(site.served.refusal([](v1::FilterRequest& request) {
          request.mutable_candidates()->add_text("v1");
          request.set_strict(true);
        }).error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(site.served.server->counters().old_missing == 2);
  // A migrated user does not depend on it.
  site.append_plays("u1");
  site.append_marks("u1");
  CHECK(site.sees("u1", {"v1", "v2"}));
}

TEST_CASE("read through: calls about others are answered while the old store stands still, and its time is bounded") {
  Site site(250);
  site.append_marks("migrated");
  site.served.world.play("migrated", "v1");
  site.old.stalled = true;
  constexpr size_t kCalls = 64;  // More than any pool has threads.
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<v1::FilterResponse> responses(kCalls);
  std::vector<v1::FilterRequest> requests(kCalls);
  std::atomic<size_t> answered{0};
  for (size_t i = 0; i < kCalls; ++i) {
    requests[i].set_user("u" + std::to_string(i));
    requests[i].mutable_candidates()->add_text("v1");
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    site.served.stub->async()->Filter(contexts[i].get(), &requests[i], &responses[i],
                                      [&answered](const grpc::Status& status) { answered += status.ok() ? 1 : 0; });
  }
  wait_until([&] { return site.old.reads == static_cast<int>(kCalls); });
  CHECK(site.sees("migrated", {"v1"}));
  CHECK(answered == 0);
  CHECK(site.old.timeout_asked_ms == 250);
  site.old.go_on();
  wait_until([&] { return answered == kCalls; });
}

TEST_CASE("read through: what a user has forgotten in bloomring stays forgotten, although the old set has it") {
  Site site;
  site.old.play("u1", "v1", site.now_ms() - kHourMs);
  site.old.play("u1", "v2", site.now_ms() - kHourMs);
  site.served.world.forget("u1", "v1");
  CHECK(site.ask("u1", {"v1"}).seen_count() == 0);
  CHECK(site.sees("u1", {"v2"}));
  site.served.world.merge();
  site.served.world.advance_hours(7);
  site.served.world.release();
  CHECK(site.ask("u1", {"v1"}).seen_count() == 0);
  site.old.play("u1", "v1", site.now_ms());  // Played again.
  CHECK(site.sees("u1", {"v1", "v2"}));
  site.served.world.forget_all("u1");
  CHECK(site.ask("u1", {"v1", "v2"}).seen_count() == 0);
  // A forget of everything takes the marks, too: the set is read again, and its plays are forgotten.
  site.append_marks("u1");
  site.served.world.advance_hours(1);
  site.served.world.forget_all("u1");
  CHECK(site.ask("u1", {"v1", "v2"}).seen_count() == 0);
}

TEST_CASE("read through: of a user with very many recent plays the marks are found") {
  Site site;
  std::vector<ItemHash> many;
  for (int i = 0; i < 20'000; ++i) many.push_back(item_hash("m" + std::to_string(i)));
  site.served.world.play_all("u1", many, site.now_ms());
  site.append_marks("u1");
  CHECK(site.sees("u1", {"m0", "m19999"}));
  CHECK(site.old.reads == 0);
}

TEST_CASE("read through: a snapshot has the plays of the old set") {
  Site site;
  site.old.play("u1", "v1", site.now_ms() - kHourMs);
  const auto snapshot = [&] {
    grpc::ClientContext context;
    v1::GetSnapshotRequest request;
    request.set_user("u1");
    v1::GetSnapshotResponse response;
    REQUIRE(site.served.stub->GetSnapshot(&context, request, &response).ok());
    return response;
  };
  const v1::GetSnapshotResponse with = snapshot();
  CHECK(with.complete());
  site.old.sets.clear();
  CHECK(snapshot().snapshot().size() < with.snapshot().size());
}
