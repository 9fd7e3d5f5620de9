#include "pipeline/stages/serve/scene_watch.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

const std::optional<MergedWatermark> kNone;

// A store whose reads of scenes end when the test says so.
class SlowReader final : public FilterReader {
 public:
  void begin_read(std::shared_ptr<FilterRead> read) override { read->refuse(); }
  std::optional<int64_t> merged_ms() const override { return std::nullopt; }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId) override { return kNone; }
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId) override { return kNone; }
  Result<std::optional<SumKey>> slot_end_key() override { return std::optional<SumKey>(); }
  Status refresh() override { return {}; }
  void begin_scenes(TakeScenes ended) const override {
    ++begun;
    end = std::move(ended);
  }

  mutable int begun = 0;
  mutable TakeScenes end;
};

struct Rig {
  ManualClock clock{1'700'000'000'000};
  SlowReader reader;
  SceneWatch watch{"serve", SceneRules{}, clock};

  void tend(bool placed = true) { watch.tend(reader, placed); }
  bool knows() const { return watch.known().stored_noted(); }
};

}  // namespace

TEST_CASE("scene watch: the scenes of the store are known once a partition is placed and the store was read") {
  Rig rig;
  rig.tend(false);
  CHECK(rig.reader.begun == 0);
  rig.tend();
  CHECK(rig.reader.begun == 1);
  rig.tend();
  CHECK(rig.reader.begun == 1);  // One read at a time.
  CHECK_FALSE(rig.knows());
  rig.reader.end(std::set<std::string>{"feed"});
  rig.tend(false);
  CHECK(rig.knows());
  CHECK(rig.watch.known().all().names == std::vector<std::string>{"feed"});
}

TEST_CASE("scene watch: a read does not count that partitions overtook, and the store is read again") {
  Rig rig;
  rig.tend();
  rig.watch.expect();
  rig.reader.end(std::set<std::string>{});
  rig.tend();
  CHECK_FALSE(rig.knows());
  rig.tend();
  REQUIRE(rig.reader.begun == 2);
  rig.reader.end(std::set<std::string>{});
  rig.tend();
  CHECK(rig.knows());
  rig.watch.expect();
  CHECK_FALSE(rig.knows());
}

TEST_CASE("scene watch: after a failed read the store is read again at once, else ten minutes later") {
  Rig rig;
  rig.tend();
  rig.reader.end(retry("it is away"));
  rig.tend();
  CHECK_FALSE(rig.knows());
  rig.tend();
  REQUIRE(rig.reader.begun == 2);
  rig.reader.end(std::set<std::string>{});
  rig.tend();
  rig.clock.advance_ms(599'999);
  rig.tend();
  CHECK(rig.reader.begun == 2);
  rig.clock.advance_ms(1);
  rig.tend();
  CHECK(rig.reader.begun == 3);
  CHECK(rig.knows());  // As of the read before.
}
