#include "schemas/snapshot.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/calls/snapshot_command.h"
#include "client/client.h"
#include "client/snapshot_filter.h"
#include "schemas/store_key.h"
#include "serving/service/request_codec.h"
#include "tests/schemas/documented_example.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

// A blob that would be gone at the end of the statement does not compile.
template <typename Bytes>
concept Decodable = requires(Bytes bytes) { decode_snapshot(std::forward<Bytes>(bytes)); };
static_assert(Decodable<const std::string&> && Decodable<std::string_view> && !Decodable<std::string>);
// Nor does a question of a decoded request that is gone.
template <typename Decoded>
concept Askable = requires(Decoded decoded) { std::forward<Decoded>(decoded).question(); };
static_assert(Askable<DecodedFilter&> && !Askable<DecodedFilter>);

namespace {

// A user with plays in two months' filters, recent plays and served items.
void live(ServingWorld& world) {
  for (int i = 0; i < 50; ++i) world.play_at("u1", "october" + std::to_string(i), kStartMs - 40 * kDayMs);
  for (int i = 0; i < 50; ++i) world.play("u1", "november" + std::to_string(i));
  world.merge();
  world.advance_hours(7);
  world.release();
  for (int i = 0; i < 20; ++i) world.play("u1", "recent" + std::to_string(i));
  for (int i = 0; i < 10; ++i) world.serve("u1", "served" + std::to_string(i));
}

// The user forgets an item of each kind, some before a merge, some after, and plays one again.
void forget_some(ServingWorld& world) {
  world.clock.advance_ms(1);
  for (const char* item : {"october1", "november1", "recent1", "served1"}) world.forget("u1", item);
  world.clock.advance_ms(1);
  world.play("u1", "november1");
  world.merge();
  world.clock.advance_ms(1);
  for (const char* item : {"october2", "november2", "recent2", "served2"}) world.forget("u1", item);
}

std::vector<std::string> questions() {
  std::vector<std::string> items;
  for (const char* kind : {"october", "november", "recent", "served", "never"}) {
    for (int i = 0; i < 60; ++i) items.push_back(kind + std::to_string(i));
  }
  return items;
}

Snapshot small_snapshot() {
  Snapshot snapshot;
  static const std::string key(UserKey("s", "u").bytes());
  snapshot.complete = true;
  snapshot.user_key = key;
  snapshot.made_at_ms = 5;
  snapshot.periods = {"2026-11", "2026-10"};
  snapshot.filters = {{1, "k", "v"}};
  snapshot.recents = {{ItemHash(7), 0}};
  snapshot.served = {ItemHash(8)};
  snapshot.forgotten = {{ItemHash(9), 1}};
  return snapshot;
}

}  // namespace

TEST_CASE("snapshot: answers like the service, what was forgotten included") {
  Served served;
  live(served.world);
  const int forgets = GENERATE(0, 1, 2);
  if (forgets > 0) forget_some(served.world);
  if (forgets > 1) served.world.forget_all("u1");
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false});
  SnapshotFilter filter = SnapshotFilter::open(client->snapshot("u1", "").value()).value();
  CHECK(filter.complete());
  FilterCall call;
  call.user = "u1";
  call.items = questions();
  const FilterReply reply = client->filter(call).value();
  const std::vector<ItemVerdict> verdicts = filter.filter(call.items);
  REQUIRE(verdicts.size() == reply.items.size());
  for (size_t i = 0; i < verdicts.size(); ++i) {
    CAPTURE(call.items[i]);
    CHECK(verdicts[i].seen == reply.items[i].seen);
    CHECK(verdicts[i].reason == reply.items[i].reason);
    CHECK(verdicts[i].period == reply.items[i].period);
  }
  CHECK(filter.expected_error() == Approx(reply.expected_error));
}

TEST_CASE("snapshot: of an unknown user it is small and says that nothing was seen") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  const std::string blob = client->snapshot("nobody", "").value();
  CHECK(blob.size() < 100);
  const std::vector<std::string> items = {"v1"};
  CHECK_FALSE(SnapshotFilter::open(blob).value().filter(items)[0].seen);
}

TEST_CASE("snapshot: a damaged filter or a failing store is said, and refused when strict") {
  Served served;
  live(served.world);
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  const bool damaged = GENERATE(true, false);
  if (damaged) {
    served.world.store.damage_values();
  } else {
    served.world.store.fail_reads(true);
  }
  SnapshotFilter filter = SnapshotFilter::open(client->snapshot("u1", "").value()).value();
  CHECK_FALSE(filter.complete());
  const std::vector<std::string> items = {"recent1", "november1"};
  CHECK(filter.filter(items)[0].seen);
  CHECK_FALSE(filter.filter(items)[1].seen);
  CHECK_FALSE(client->snapshot("u1", "", true).ok());
}

TEST_CASE("snapshot command: the blob that is printed answers here as the service does there") {
  Served served;
  live(served.world);
  const auto run = [&](SnapshotOptions options, const std::string& input, int expected_code) {
    options.server = served.server->address();
    options.deadline_ms = 60'000;
    std::istringstream in(input);
    std::ostringstream out, err;
    CHECK(snapshot(options, in, out, err) == expected_code);
    return out.str() + err.str();
  };
  const std::string blob = run({.user = "u1"}, "", 0);
  CHECK(SnapshotFilter::open(blob).ok());
  std::string name = (std::filesystem::temp_directory_path() / "snapshot_XXXXXX").string();
  close(mkstemp(name.data()));
  std::ofstream(name, std::ios::binary) << blob;
  const std::string tested = run({.from = name, .test = true}, "november1\nnever1\n", 0);
  CHECK(tested == run({.from = name, .test = true, .items = {"november1", "never1"}}, "", 0));
  const auto json = nlohmann::json::parse(tested);
  CHECK(json["user"] == "u1");
  CHECK(json["complete"] == true);
  CHECK(json["items"][0] ==
        nlohmann::json({{"item", "november1"}, {"seen", true}, {"reason", "filter"}, {"period", "2026-11"}}));
  CHECK(json["items"][1]["seen"] == false);
  std::ofstream(name, std::ios::binary) << blob.substr(1);
  CHECK(run({.from = name, .test = true}, "", 1) == name + ": snapshot: checksum differs or bytes are missing\n");
  std::filesystem::remove(name);
  CHECK(run({.from = name, .test = true}, "", 2) == name + " cannot be read: No such file or directory\n");
  CHECK(run({.user = ""}, "", 2).ends_with(": user: an id is empty\n"));
}

TEST_CASE("snapshot: its bytes are those of the document") {
  Snapshot snapshot;
  const std::string key(UserKey("feed", "u1").bytes());
  const std::string store_key = filter_key(key, PeriodUnit::kMonth, PeriodIndex(682));
  const ItemHash items[] = {ItemHash(1), ItemHash(2)};
  const std::string value = filter::make(items, key, store_key, {});
  snapshot.complete = true;
  snapshot.user_key = key;
  snapshot.made_at_ms = kStartMs;
  snapshot.periods = {"2026-12", "2026-11"};
  snapshot.filters = {{1, store_key, value}};
  snapshot.recents = {{item_hash("v1"), 0}};
  snapshot.served = {item_hash("v2")};
  snapshot.forgotten = {{ItemHash(1), 1}};
  CHECK(hex(encode_snapshot(snapshot)) == hex(documented_example("Snapshot, version 2")));
}

TEST_CASE("snapshot: a blob with any byte changed, cut or added is corrupt") {
  const std::string bytes = encode_snapshot(small_snapshot());
  REQUIRE(decode_snapshot(bytes).ok());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    CHECK(decode_snapshot(changed).code() == Code::kCorrupt);
    CHECK(decode_snapshot(std::string_view(bytes).substr(0, i)).code() == Code::kCorrupt);
  }
  const std::string longer = bytes + '\0';
  CHECK(decode_snapshot(longer).code() == Code::kCorrupt);
}

TEST_CASE("snapshot: what the encoder would not write is corrupt, whatever its checksum") {
  const auto refused = [](const std::function<void(Snapshot&)>& change) {
    Snapshot snapshot = small_snapshot();
    change(snapshot);
    const std::string bytes = encode_snapshot(snapshot);
    return decode_snapshot(bytes).code() == Code::kCorrupt;
  };
  CHECK(refused([](Snapshot& s) { s.user_key = ""; }));
  CHECK(refused([](Snapshot& s) { s.filters[0].period = 2; }));
  CHECK(refused([](Snapshot& s) { s.filters = {{1, "k", "v"}, {1, "k", "v"}}; }));
  CHECK(refused([](Snapshot& s) { s.recents[0].period = 2; }));
  CHECK(refused([](Snapshot& s) { s.periods = std::vector<std::string_view>(65, "p"); }));
  CHECK(refused([](Snapshot& s) { s.forgotten[0].period = 2; }));
  CHECK(refused([](Snapshot& s) { s.forgotten.push_back(s.forgotten[0]); }));
}
