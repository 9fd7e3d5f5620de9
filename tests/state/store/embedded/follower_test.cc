#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "state/store/embedded/embedded_filter_follower.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/numbered_plays.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Fixture {
  Folder folder;
  ManualClock clock{kPlaysNowMs};
  StateMemory memory{plays_memory()};

  std::unique_ptr<EmbeddedFilterFollower> follow() {
    auto follower = EmbeddedFilterFollower::follow(plays_store(folder / "store"), plays_calendar(), clock, memory);
    REQUIRE(follower.ok());
    return std::move(follower).value();
  }
  Child write_until(int64_t plays) { return Child("filter_store_writer", {folder / "store", std::to_string(plays)}); }
};

int64_t watermark_of(LocalFilterReader& store) {
  const auto watermark = store.read_watermark(PartitionId(0));
  return watermark.ok() && *watermark ? (*watermark)->offset.value : 0;
}

// The newest plays below the watermark, and some of all.
void expect_seen_below(LocalFilterReader& store, int64_t watermark, std::mt19937& rng) {
  for (int64_t back = 1; back <= std::min<int64_t>(watermark, 150); ++back) {
    INFO("play " << watermark - back << " below watermark " << watermark);
    const auto seen = has_play(store, watermark - back);
    REQUIRE(seen.status().to_string() == "ok");
    REQUIRE(*seen);
  }
  for (int i = 0; i < 50 && watermark > 0; ++i) {
    const auto offset = static_cast<int64_t>(rng() % static_cast<uint64_t>(watermark));
    INFO("play " << offset << " below watermark " << watermark);
    REQUIRE(has_play(store, offset).value());
  }
}

}  // namespace

TEST_CASE("follower: it sees what a watermark covers while the writer writes, compacts, dies and comes back") {
  constexpr int64_t kPlays = 30000;
  constexpr int kKills = 6;
  Fixture f;
  std::mt19937 rng(11);
  const auto follower = f.follow();
  int64_t last = 0;
  for (int life = 0; life <= kKills; ++life) {
    Child writer = f.write_until(kPlays);
    const int64_t until = kPlays * (life + 1) / (kKills + 1);
    for (int64_t written = 0; last < until;) {
      if (written < until) {
        const std::string line = writer.line();
        written = line.empty() ? until : std::stoll(line);
      }
      const Status status = follower->refresh();
      if (status.code() == Code::kRetry) continue;
      REQUIRE(status.to_string() == "ok");
      const int64_t watermark = watermark_of(*follower);
      REQUIRE(watermark >= last);
      last = watermark;
      expect_seen_below(*follower, watermark, rng);
    }
    if (life == kKills)
      CHECK(writer.wait() == 0);
    else
      writer.kill_now();
  }
}
