#include "schemas/snapshot.h"

#include <catch2/catch.hpp>
#include <functional>

#include "base/hash.h"
#include "base/words.h"
#include "filter/filter.h"
#include "schemas/store_key.h"
#include "tests/schemas/documented_example.h"

using namespace bloomring;

// A blob that would be gone at the end of the statement does not compile.
template <typename Bytes>
concept Decodable = requires(Bytes bytes) { decode_snapshot(std::forward<Bytes>(bytes)); };
static_assert(Decodable<const std::string&> && Decodable<std::string_view> && !Decodable<std::string>);

namespace {

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

TEST_CASE("snapshot: its bytes are those of the document") {
  Snapshot snapshot;
  const std::string key(UserKey("feed", "u1").bytes());
  const std::string store_key = filter_key(key, PeriodUnit::kMonth, PeriodIndex(682));
  const ItemHash items[] = {ItemHash(1), ItemHash(2)};
  const std::string value = filter::make(items, key, store_key, {});
  snapshot.complete = true;
  snapshot.user_key = key;
  snapshot.made_at_ms = 1'795'248'000'000;
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
