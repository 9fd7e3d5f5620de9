// The pace on a clock that the tests move.
#include "state/redis/redis_pace.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using namespace bloomring;

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint64_t kMiB = 1 << 20;

// Writes as fast as the pace lets it, one at a time, each answered at once.
struct Writer {
  explicit Writer(RedisPaceShare& share_) : share(share_), pace(share_.pace()) {}
  // The bytes that began within this time.
  uint64_t write_for(int64_t duration_ns, uint64_t bytes_each) {
    uint64_t written = 0;
    for (const int64_t until_ns = now_ns + duration_ns; now_ns < until_ns; now_ns += kMs) {
      while (pace.begin(share, bytes_each, now_ns)) {
        written += bytes_each;
        pace.end_untimed(share);
      }
    }
    return written;
  }
  RedisPaceShare& share;
  RedisPace& pace;
  int64_t now_ns = 1'000 * kMs;
};

// Writes under way on a server that takes so long for each.
struct Load {
  explicit Load(RedisPaceShare& share_) : share(share_), pace(share_.pace()) {}
  void turn(int64_t answer_ns, bool answered = true) {
    size_t begun = 0;
    while (pace.begin(share, 1, now_ns)) ++begun;
    const int64_t begun_ns = now_ns;
    now_ns += answer_ns;
    for (size_t i = 0; i < begun; ++i) pace.end(share, begun_ns, now_ns, answered);
    now_ns += kMs;
  }
  RedisPaceShare& share;
  RedisPace& pace;
  int64_t now_ns = 1'000 * kMs;
};

}  // namespace

TEST_CASE("redis pace: writes keep to the rate over time, whatever their size") {
  for (const uint64_t each : {uint64_t{1000}, uint64_t{100 * 1024}, kMiB}) {
    RedisPace pace(10 * kMiB, 1);
    RedisPaceShare share(pace);
    Writer writer(share);
    const uint64_t written = writer.write_for(60'000 * kMs, each);
    CHECK(written <= 10 * kMiB * 60 + kMiB + each);  // 100 ms of burst, and one write.
    CHECK(written >= 10 * kMiB * 60 - each);
  }
}

TEST_CASE("redis pace: a pause earns no more than the burst") {
  RedisPace pace(10 * kMiB, 1);
  RedisPaceShare share(pace);
  Writer writer(share);
  writer.now_ns += 3'600'000 * kMs;
  CHECK(writer.write_for(kMs, 1000) <= kMiB + 1000);
}

TEST_CASE("redis pace: a process gets the share of the partitions that it writes, and it follows them") {
  RedisPace pace(10 * kMiB, 10);
  RedisPaceShare first(pace);
  Writer writer(first);
  // In ten seconds, with at most a tenth of a second and one write more or less.
  const auto writes_a_second = [&](double mib) {
    const double found = static_cast<double>(writer.write_for(10'000 * kMs, 1000)) / kMiB / 10;
    CHECK(found == Approx(mib).epsilon(0.011));
  };
  writes_a_second(1);
  {
    const RedisPaceShare second(pace), third(pace);
    writes_a_second(3);
  }
  writes_a_second(1);
}

TEST_CASE("redis pace: bytes that were more than expected are paid for later, and fewer are given back") {
  RedisPace pace(kMiB, 1);
  RedisPaceShare share(pace);
  Writer writer(share);
  REQUIRE(pace.begin(share, 0, writer.now_ns));
  pace.end_untimed(share);
  pace.correct(0, 5 * kMiB);
  CHECK(writer.write_for(4'800 * kMs, 1000) == 0);
  CHECK(writer.write_for(1'000 * kMs, 1000) > 0);
  pace.correct(0, 5 * kMiB);
  CHECK(writer.write_for(kMs, 1000) == 0);
  pace.correct(5 * kMiB, 0);
  CHECK(writer.write_for(kMs, 1000) > 0);
}

TEST_CASE("redis pace: without a rate the window alone bounds writes") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  size_t begun = 0;
  while (pace.begin(share, kMiB, 0)) ++begun;
  CHECK(begun == RedisPace::kWindowFirst);
  CHECK(pace.under_way() == begun);
  pace.end_untimed(share);
  CHECK(pace.begin(share, kMiB, 0));
  CHECK_FALSE(pace.begin(share, kMiB, 0));
}

TEST_CASE("redis pace: quick answers open the window by one a turn, up to its bound") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  Load load(share);
  for (int i = 0; i < 3; ++i) load.turn(kMs);
  CHECK(pace.window() >= RedisPace::kWindowFirst + 2);
  CHECK(pace.window() <= RedisPace::kWindowFirst + 3);
  for (int i = 0; i < 1000; ++i) load.turn(kMs);
  CHECK(pace.window() == RedisPace::kWindowMost);
}

TEST_CASE("redis pace: a window that is not used does not grow") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  for (int64_t i = 0; i < 10'000; ++i) {
    REQUIRE(pace.begin(share, 1, i * kMs));
    pace.end(share, i * kMs, i * kMs + 1, true);
  }
  CHECK(pace.window() == RedisPace::kWindowFirst);
}

TEST_CASE("redis pace: slow answers halve the window once for all that were under way, and it comes back") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  Load load(share);
  for (int i = 0; i < 10; ++i) load.turn(kMs);
  const size_t before = pace.window();
  load.turn(100 * kMs);
  CHECK(pace.window() == before / 2);
  load.turn(100 * kMs);
  CHECK(pace.window() == before / 4);
  for (int i = 0; i < 200; ++i) load.turn(kMs);
  CHECK(pace.window() > before);
}

TEST_CASE("redis pace: answers that stay away halve the window, down to one write") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  Load load(share);
  for (int i = 0; i < 20; ++i) load.turn(10'000 * kMs, false);
  CHECK(pace.window() == 1);
  CHECK(pace.begin(share, 1, load.now_ns));
  CHECK_FALSE(pace.begin(share, 1, load.now_ns));
}

TEST_CASE("redis pace: what is quick for a far server is not slow, and a server that became slower is learnt") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  Load load(share);
  for (int i = 0; i < 10; ++i) load.turn(80 * kMs);
  const size_t before = pace.window();
  load.turn(300 * kMs);  // Less than four times 80.
  CHECK(pace.window() >= before);
  load.turn(400 * kMs);
  CHECK(pace.window() < before);
  for (int i = 0; i < 1000; ++i) load.turn(400 * kMs);  // Longer than two minutes.
  CHECK(pace.window() > before);
}

TEST_CASE("redis pace: a write has its place until it ends, once, or until it is dropped") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  {
    const auto dropped = RedisPacePlace::begin(share, 1, 0);
    const auto ended = RedisPacePlace::begin(share, 1, 0);
    REQUIRE(ended);
    CHECK(pace.under_way() == 2);
    ended->end(0, kMs, true);
    ended->end_untimed();
    CHECK(pace.under_way() == 1);
  }
  CHECK(pace.under_way() == 0);
  std::vector<std::shared_ptr<RedisPacePlace>> all;
  while (auto place = RedisPacePlace::begin(share, 1, 0)) all.push_back(std::move(place));
  CHECK(all.size() == RedisPace::kWindowFirst);
}

TEST_CASE("redis pace: answers within 20 ms are never slow") {
  RedisPace pace(0, 1);
  RedisPaceShare share(pace);
  Load load(share);
  load.turn(kMs / 10);
  const size_t before = pace.window();
  load.turn(RedisPace::kSlowLeastNs);
  CHECK(pace.window() >= before);
  load.turn(RedisPace::kSlowLeastNs + kMs);
  CHECK(pace.window() < before);
}

TEST_CASE("redis pace: a partition whose writes are never answered keeps no other one from writing") {
  RedisPace pace(0, 3);
  RedisPaceShare stuck(pace), first(pace), second(pace);
  while (pace.begin(stuck, 1, 0)) continue;
  CHECK(pace.under_way() == RedisPace::kWindowFirst);
  for (int i = 0; i < 100; ++i) {
    for (RedisPaceShare* const share : {&first, &second}) REQUIRE(pace.begin(*share, 1, i * kMs));
    CHECK_FALSE(pace.begin(first, 1, i * kMs));
    for (RedisPaceShare* const share : {&first, &second}) pace.end_untimed(*share);
  }
}

TEST_CASE("redis pace: partitions that all have work share the window evenly, and one that is alone has all of it") {
  RedisPace pace(0, 3);
  RedisPaceShare first(pace), second(pace), third(pace);
  std::vector<RedisPaceShare*> shares = {&first, &second, &third};
  // The first has all places, and gives one back at a time: always the first to ask again.
  std::map<RedisPaceShare*, size_t> places;
  const auto fill = [&](RedisPaceShare* share) {
    while (pace.begin(*share, 1, 0)) ++places[share];
  };
  fill(&first);
  CHECK(places[&first] == RedisPace::kWindowFirst);
  for (int turn = 0; turn < 100; ++turn) {
    for (RedisPaceShare* const share : shares) {
      if (places[share] > 0) {
        pace.end_untimed(*share);
        --places[share];
      }
      for (RedisPaceShare* const one : shares) fill(one);
    }
  }
  for (RedisPaceShare* const share : shares) {
    CHECK(places[share] >= RedisPace::kWindowFirst / 3);
    CHECK(places[share] <= RedisPace::kWindowFirst / 3 + 2);
  }
  for (RedisPaceShare* const share : {&second, &third}) {
    for (; places[share] > 0; --places[share]) pace.end_untimed(*share);
    share->rest();
  }
  fill(&first);
  CHECK(places[&first] == RedisPace::kWindowFirst);
}
