#include "operators/ingest.h"

#include <catch2/catch.hpp>
#include <vector>

#include "base/hash.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;

std::string play(const std::string& user, const std::string& item, int64_t time_ms) {
  return R"({"user":")" + user + R"(","item":")" + item + R"(","time":)" + std::to_string(time_ms) + "}";
}

std::string event(const std::string& kind, const std::string& user, const std::string& item, int64_t time_ms) {
  return R"({"event":")" + kind + R"(",)" + play(user, item, time_ms).substr(1);
}

IngestConfig config() {
  IngestConfig config;
  config.partition_count = 10;
  config.block_events = 3;
  return config;
}

}  // namespace

TEST_CASE("ingest: a play ends in a block of its user's partition") {
  Ingest ingest(config());
  const auto taken = ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs));
  REQUIRE(taken.packed);
  CHECK(taken.partition == partition_of(shard_of(UserKey("", "u1").bytes()), 10));
  const std::string block = ingest.close_block(taken.partition);
  auto reader = EventBlockReader::open(block, taken.partition, 10);
  REQUIRE(reader.ok());
  REQUIRE(reader->next_user());
  CHECK(reader->user_key() == UserKey("", "u1").bytes());
  REQUIRE(reader->next_event());
  CHECK(reader->event().item == item_hash("v1"));
  CHECK(reader->event().time_ms == kNowMs);
  CHECK_FALSE(reader->next_event());
}

TEST_CASE("ingest: what is to be skipped is counted by its reason, and is neither packed nor refused") {
  IngestConfig skipping = config();
  skipping.mapping.kinds = {{"impression", MappedKind()}};
  skipping.mapping.view = {.watched = "w", .ms_min = 3'000};
  Ingest ingest(skipping);
  const auto watched = [](const std::string& ms) {
    return play("u1", "v1", kNowMs).replace(0, 1, R"({"event":"play","w":)" + ms + ",");
  };
  const auto ignored = ingest.take(R"({"event":"impression"})", IngestTime::at(kNowMs));
  CHECK(ignored.refusal == Refusal::kNone);
  CHECK_FALSE(ignored.packed);
  CHECK_FALSE(ingest.take(watched("2999"), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.stats().skipped[static_cast<size_t>(Skip::kIgnoredKind)] == 1);
  CHECK(ingest.stats().skipped[static_cast<size_t>(Skip::kShortView)] == 1);
  CHECK(ingest.take(watched("3000"), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.stats().accepted == 1);
}

TEST_CASE("ingest: a block is full at its number of events") {
  Ingest ingest(config());
  CHECK_FALSE(ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs)).full);
  CHECK_FALSE(ingest.take(play("u1", "v2", kNowMs), IngestTime::at(kNowMs)).full);
  CHECK(ingest.take(play("u1", "v3", kNowMs), IngestTime::at(kNowMs)).full);
}

TEST_CASE("ingest: a block that lingers is due, so a quiet partition is still fresh") {
  Ingest ingest(config());
  CHECK(ingest.due(kNowMs).empty());
  const auto taken = ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs));
  CHECK(ingest.due(kNowMs + 49).empty());
  CHECK(ingest.due(kNowMs + 50) == std::vector<PartitionId>{taken.partition});
  ingest.close_block(taken.partition);
  CHECK(ingest.due(kNowMs + 200).empty());
}

TEST_CASE("ingest: a block does not stay open when the clock is set back") {
  Ingest ingest(config());
  const auto taken = ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs));
  CHECK(ingest.due(kNowMs - 3'600'000) == std::vector<PartitionId>{taken.partition});
}

TEST_CASE("ingest: an event that differs in nothing is dropped, one at another time is not") {
  Ingest ingest(config());
  CHECK(ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs)).packed);
  const auto repeat = ingest.take(play("u1", "v1", kNowMs), IngestTime::at(kNowMs));
  CHECK(repeat.refusal == Refusal::kNone);
  CHECK_FALSE(repeat.packed);
  CHECK(ingest.take(play("u2", "v1", kNowMs), IngestTime::at(kNowMs)).packed);
  // The user may have forgotten it in between.
  CHECK(ingest.take(play("u1", "v1", kNowMs - 1), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.take(event("serve", "u1", "v1", kNowMs), IngestTime::at(kNowMs)).packed);
  CHECK_FALSE(ingest.take(event("serve", "u1", "v1", kNowMs), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.stats().repeats == 2);
  CHECK(ingest.stats().accepted == 4);
}

TEST_CASE("ingest: an event time that is ahead of the clock counts as now") {
  Ingest ingest(config());
  const auto taken = ingest.take(play("u1", "v1", kNowMs + 60'000), IngestTime::at(kNowMs));
  const std::string block = ingest.close_block(taken.partition);
  auto reader = EventBlockReader::open(block, taken.partition, 10).value();
  REQUIRE((reader.next_user() && reader.next_event()));
  CHECK(reader.event().time_ms == kNowMs);
}

TEST_CASE("ingest: without an exact time of the brokers a play is judged by the latest, a forget by the earliest") {
  Ingest ingest(config());
  const IngestTime now{kNowMs - 10'000, kNowMs};
  const auto taken = ingest.take(play("u1", "v1", kNowMs - 1), now);
  CHECK(ingest.take(event("serve", "u1", "v2", kNowMs + 1), now).packed);
  CHECK(ingest.take(event("forget", "u1", "v3", kNowMs - 1), now).packed);
  CHECK(ingest.take(event("forget", "u1", "v4", kNowMs - 10'000), now).packed);
  const std::string block = ingest.close_block(taken.partition);
  auto reader = EventBlockReader::open(block, taken.partition, 10).value();
  REQUIRE(reader.next_user());
  std::vector<int64_t> times_ms;
  while (reader.next_event()) times_ms.push_back(reader.event().time_ms);
  CHECK(times_ms == std::vector<int64_t>{kNowMs - 1, kNowMs, kNowMs - 10'001, kNowMs - 10'000});
}

TEST_CASE("ingest: an event that is not ahead keeps its own time to the millisecond, however old it is") {
  const int64_t age_ms =
      GENERATE(as<int64_t>{}, 0, 1, 999, 60'000, 3'599'999, 3'600'000, 31LL * 86'400'000, 20LL * 365 * 86'400'000);
  const std::string kind = GENERATE("play", "serve", "forget");
  Ingest ingest(config());
  const auto taken = ingest.take(event(kind, "u1", "v1", kNowMs - age_ms), IngestTime::at(kNowMs));
  const std::string block = ingest.close_block(taken.partition);
  auto reader = EventBlockReader::open(block, taken.partition, 10).value();
  REQUIRE((reader.next_user() && reader.next_event()));
  CHECK(reader.event().time_ms == kNowMs - age_ms);
  CHECK(ingest.stats().ahead + ingest.stats().far_ahead == 0);
}

TEST_CASE("ingest: a play or a serve whose time has whole seconds counts at the end of its second") {
  constexpr int64_t kSecondMs = kNowMs - 60'000;
  IngestConfig seconds = config();
  seconds.mapping.time_unit = TimeUnit::kSeconds;
  Ingest ingest(seconds);
  const auto taken_ms = [&](const std::string& kind, const std::string& item, const std::string& time) {
    const std::string json = R"({"event":")" + kind + R"(","user":"u1","item":")" + item + R"(","time":)" + time + "}";
    return ingest.take(json, IngestTime::at(kNowMs)).time_ms;
  };
  const std::string whole = std::to_string(kSecondMs / 1'000);
  const std::string text = R"("2026-11-18T11:05:40)";  // That second.
  CHECK(taken_ms("play", "number", whole) == kSecondMs + 999);
  CHECK(taken_ms("serve", "number", whole) == kSecondMs + 999);
  CHECK(taken_ms("play", "float", whole + ".0") == kSecondMs + 999);
  CHECK(taken_ms("play", "text", text + "Z\"") == kSecondMs + 999);
  CHECK(taken_ms("play", "fraction", whole + ".25") == kSecondMs + 250);
  CHECK(taken_ms("play", "text-fraction", text + ".000Z\"") == kSecondMs);
  CHECK(taken_ms("forget", "number", whole) == kSecondMs);
  CHECK(taken_ms("forget_all", "", text + "Z\"") == kSecondMs);
}

TEST_CASE("ingest: a play of the current second counts as now, and again when it comes again after a forget by call") {
  IngestConfig seconds = config();
  seconds.mapping.time_unit = TimeUnit::kSeconds;
  Ingest ingest(seconds);
  const std::string json = play("u1", "v1", kNowMs / 1'000);
  CHECK(ingest.take(json, IngestTime::at(kNowMs + 300)).time_ms == kNowMs + 300);
  const auto again = ingest.take(json, IngestTime::at(kNowMs + 700));  // The user forgot the item at +500.
  CHECK(again.packed);
  CHECK(again.time_ms == kNowMs + 700);
  CHECK(ingest.stats().ahead == 0);
  CHECK(ingest.take(json, IngestTime::at(kNowMs + 5'000)).time_ms == kNowMs + 999);
  CHECK_FALSE(ingest.take(json, IngestTime::at(kNowMs + 6'000)).packed);  // From now on it is a repeat.
}

TEST_CASE("ingest: up to a day ahead counts as now, and beyond what is usual is counted apart; then it is refused") {
  Ingest ingest(config());
  const int64_t usual_ms = config().mapping.ahead_ms;
  CHECK(ingest.take(play("u1", "v1", kNowMs + usual_ms), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.take(play("u1", "v2", kNowMs + usual_ms + 1), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.take(play("u1", "v3", kNowMs + 86'400'000), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.take(play("u1", "v4", kNowMs + 86'400'001), IngestTime::at(kNowMs)).refusal == Refusal::kTimeAhead);
  CHECK(ingest.stats().ahead == 1);
  CHECK(ingest.stats().far_ahead == 2);
}

TEST_CASE("ingest: forgets are packed; one that is ahead of the clock lies before plays that come with it") {
  Ingest ingest(config());
  const auto taken = ingest.take(event("forget", "u1", "v1", kNowMs + 60'000), IngestTime::at(kNowMs));
  CHECK(ingest.take(event("forget_all", "u1", "", kNowMs - 5), IngestTime::at(kNowMs)).packed);
  const std::string block = ingest.close_block(taken.partition);
  auto reader = EventBlockReader::open(block, taken.partition, 10).value();
  CHECK(reader.forgets() == 2);
  REQUIRE((reader.next_user() && reader.next_event()));
  CHECK(reader.event().kind == EventKind::kForget);
  CHECK(reader.event().item == item_hash("v1"));
  CHECK(reader.event().time_ms == kNowMs - 1);
  REQUIRE(reader.next_event());
  CHECK(reader.event().kind == EventKind::kForgetAll);
  CHECK(reader.event().item == ItemHash(0));
  CHECK(reader.event().time_ms == kNowMs - 5);
}

TEST_CASE("ingest: a refused record packs nothing and says why") {
  Ingest ingest(config());
  const auto taken = ingest.take(R"({"user":"u1"})", IngestTime::at(kNowMs));
  CHECK(taken.refusal == Refusal::kMissingField);
  CHECK_FALSE(taken.packed);
  CHECK(ingest.detail() == "events.item 'item': field missing");
  CHECK(ingest.stats().refused[static_cast<size_t>(Refusal::kMissingField)] == 1);
}
