#include "state/store/embedded/deleted_shards.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "schemas/store/deletion_mark.h"
#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// A file of the folder that has these bytes; none: empty. The list of files names the first and last keys of each until
// the store is opened again, so it is looked at on demand.
std::string holder(const std::string& folder, const std::string& bytes, bool in_list = false) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool list = entry.path().filename().string().starts_with("MANIFEST");
    if (!entry.is_regular_file() || (list && !in_list)) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    if (content.find(bytes) != std::string::npos) return entry.path().filename();
  }
  return "";
}
bool holds(const std::string& folder, const std::string& bytes) { return !holder(folder, bytes).empty(); }

// Everything of the user up to the end of the bed's month is forgotten; what remains of it is `kept`.
void forget_everything(Bed& bed, const std::string& name, bool kept) {
  const std::string key = user(name);
  Forgotten forgotten;
  if (kept) forgotten.forget_everything(kNowMs);
  const ForgottenUpdate update{key, forgotten, PeriodIndex(kNow - 1), PeriodIndex(kNow + 1)};
  REQUIRE(bed.store().apply({&update, 1}, {}).to_string() == "ok");
}

size_t marks(EmbeddedBed& bed) { return bed.embedded().stats().ranges_to_erase; }

// Whole items, so that their bytes can be looked for.
std::vector<std::string> items(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("item" + std::to_string(i));
  return all;
}

}  // namespace

TEST_CASE("deleted shards: after the erasure no file of the store holds the user's key, and others keep theirs") {
  EmbeddedBed bed;
  bed.play("someone-else", kNow, items(50));
  bed.play("erased-user", kNow, items(50));
  REQUIRE(bed.embedded().compact().ok());
  REQUIRE(holds(bed.config().path, "erased-user"));
  forget_everything(bed, "erased-user", false);
  REQUIRE(marks(bed) == 1);
  CHECK_FALSE(bed.embedded().erase_deleted(kNowMs - 1).value());  // Not old enough.
  CHECK(holds(bed.config().path, "erased-user"));
  CHECK(bed.embedded().erase_deleted(kNowMs).value());
  CHECK_FALSE(bed.embedded().erase_deleted(kNowMs).value());
  CHECK(bed.embedded().stats().ranges_erased == 1);
  CHECK(holder(bed.config().path, "erased-user") == "");
  bed.reopen();
  CHECK(holder(bed.config().path, "erased-user", true) == "");
  CHECK(marks(bed) == 0);
  CHECK(bed.seen("someone-else", kNow, {"item7"}) == "item7");
}

TEST_CASE("deleted shards: the filters of an erased user leave the files also where its forget is kept") {
  EmbeddedBed bed;
  bed.play("erased-user", kNow, items(3'000));
  REQUIRE(bed.embedded().compact().ok());
  const std::string filter = bed.read("erased-user", {kNow}).at(0).value;
  const std::string part = filter.substr(filter.size() / 2, 32);
  REQUIRE(holds(bed.config().path, part));
  forget_everything(bed, "erased-user", true);
  while (bed.embedded().erase_deleted(kNowMs).value()) {
  }
  CHECK_FALSE(holds(bed.config().path, part));
  Forgotten forgotten;
  std::vector<StoredFilter> none;
  REQUIRE(bed.store().read(user("erased-user"), {}, none, forgotten).ok());
  CHECK(forgotten.everything_ms() == kNowMs);
}

TEST_CASE("deleted shards: marks outlive a restart with the time of the first deletion, and a check reads them") {
  EmbeddedBed bed;
  bed.play("a", kNow, items(5));
  forget_everything(bed, "a", true);
  bed.clock.advance_ms(60'000);
  forget_everything(bed, "a", true);
  forget_everything(bed, "b", true);
  bed.reopen();
  CHECK(marks(bed) == 2);
  CHECK(bed.embedded().stats().erase_since_ms == kNowMs);
  CHECK(bed.embedded().check({}).value().sound());
  bed.write_row(deletion_mark_key(ShardId(7)), "garbage");
  CHECK(bed.embedded().check({}).value().damaged == 1);
  bed.reopen();
  CHECK(bed.embedded().stats().erase_since_ms == 0);  // One that cannot be read is the most urgent.
  CHECK(bed.embedded().erase_deleted(0).value());
  CHECK(bed.embedded().check({}).value().sound());
  CHECK(marks(bed) == 2);
}

TEST_CASE("deleted shards: a forget of single items deletes no filter, and marks nothing") {
  EmbeddedBed bed;
  bed.play("a", kNow, items(5));
  const std::string key = user("a");
  Forgotten forgotten;
  forgotten.forget_item(item_hash("item1"), kNowMs);
  const ForgottenUpdate update{key, forgotten, PeriodIndex(0), PeriodIndex(0)};
  REQUIRE(bed.store().apply({&update, 1}, {}).ok());
  CHECK(marks(bed) == 0);
}
