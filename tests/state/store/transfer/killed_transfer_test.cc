// Moves whose process is killed (SIGKILL) behind each of its files, and started again.
#include "tests/state/store/transfer/transfer_beds.h"
#include "tests/support/child.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int kKilled = -1;
constexpr int kFilesMost = 200;

std::vector<std::string> words(EmbeddedBed& bed) { return {"embedded", bed.config().path}; }
std::vector<std::string> words(RedisBed& bed) { return {"redis", bed.server().address().text()}; }
std::vector<std::string> words(EmbeddedTarget& target) { return {"embedded", target.path()}; }
std::vector<std::string> words(RedisTarget& target) { return {"redis", target.server().address().text()}; }

// Runs a process that moves values and kills itself behind its file `last`; returns its exit code.
int move(const std::string& what, std::vector<std::string> store, const std::string& folder, int last) {
  store.insert(store.begin(), what);
  store.push_back(folder);
  store.push_back(std::to_string(last));
  return Child("store_mover", store).wait();
}

void fill(Bed& bed) {
  for (int u = 0; u < 40; ++u) {
    bed.play("u" + std::to_string(u), kNow, {"a", "b" + std::to_string(u)});
    bed.play("u" + std::to_string(u), kNow - 1, {"c"});
  }
  for (int u = 0; u < 8; ++u) bed.forget_everything("u" + std::to_string(u), kNowMs - 1000, kNow - 6, kNow - 3);
  for (int32_t p = 0; p < static_cast<int32_t>(kBedPartitions); ++p)
    REQUIRE(bed.store().advance(PartitionId(p), merged_below(100 + p)).ok());
}

template <typename Moved>
void check_killed_moves() {
  Moved moved;
  fill(moved.bed);
  const Values all = values_of(admin_of(moved.bed));
  REQUIRE(all.size() > 80);
  const std::string folder = moved.options.folder, calm = folder + "-calm";

  int killed = 0;
  for (int code = kKilled; code != 0; killed += code == kKilled ? 1 : 0) {
    code = move("export", words(moved.bed), folder, 1);
    REQUIRE((code == 0 || code == kKilled));
    REQUIRE(killed < kFilesMost);
  }
  REQUIRE(move("export", words(moved.bed), calm, 0) == 0);
  const ExportManifest manifest = moved.files().manifest().value().value();
  const ExportManifest undisturbed = ExportFolder::open(calm, false)->manifest().value().value();
  CHECK(killed == static_cast<int>(manifest.files.size()));
  CHECK(killed >= 5);
  CHECK(values_in(moved.files(), manifest) == all);
  CHECK(manifest.progress == ExportProgress::kComplete);
  CHECK(manifest.watermarks == undisturbed.watermarks);
  for (const ValueKind kind : {ValueKind::kForgotten, ValueKind::kFilter})
    CHECK(manifest.values(kind) == undisturbed.values(kind));

  for (int last = 1; last <= killed; ++last) {
    REQUIRE(move("import", words(moved.target), folder, last) == kKilled);
    CHECK(moved.target.open(0).code() == Code::kInvalid);  // A stage refuses the half store.
  }
  REQUIRE(move("import", words(moved.target), folder, 0) == 0);
  REQUIRE(moved.target.open(0).to_string() == "ok");
  CHECK(values_of(moved.target.store()) == all);
  for (int32_t p = 0; p < static_cast<int32_t>(kBedPartitions); ++p)
    CHECK(moved.target.store().read_watermark(PartitionId(p)).value() == merged_below(100 + p));
}

}  // namespace

TEST_CASE("killed transfer: a move to a server that is killed behind every file ends as one that is left alone") {
  check_killed_moves<EmbeddedToRedis>();
}

TEST_CASE("killed transfer: a move to one machine that is killed behind every file ends as one that is left alone") {
  check_killed_moves<RedisToEmbedded>();
}
