#include "serving/admission/call_memory.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace bloomring;

TEST_CASE("call memory: shares are given while they fit, and come back with their end") {
  CallMemory memory(100);
  auto first = memory.take(60);
  REQUIRE(first);
  CHECK_FALSE(memory.take(41));
  CHECK(memory.take(40));
  CHECK(memory.taken() == 60);
  CallMemory::Share held = std::move(*first);
  first.reset();
  CHECK(memory.taken() == 60);
  held = {};
  CHECK(memory.taken() == 0);
  CHECK(memory.take(100));
}

TEST_CASE("call memory: a share that no memory could hold is refused, however large it is") {
  CallMemory memory(100);
  CHECK_FALSE(memory.take(101));
  CHECK_FALSE(memory.take(SIZE_MAX));
  CHECK(memory.taken() == 0);
}

TEST_CASE("call memory: a caller that has a share gets no more than it leaves to others; its first may be all") {
  CallMemory memory(100);
  auto all = memory.take(100, 1);
  REQUIRE(all);
  all.reset();
  const auto first = memory.take(30, 1);
  CHECK(memory.has_its_part(41, 1));
  CHECK_FALSE(memory.take(41, 1));
  auto second = memory.take(20, 1);
  REQUIRE(second);
  CHECK_FALSE(memory.take(1, 1));  // It has half.
  CHECK_FALSE(memory.has_its_part(50, 2));
  {
    const auto other = memory.take(50, 2);
    CHECK(other);
    CHECK(memory.has_its_part(0, 1));  // Somebody else has come.
  }
  CHECK(memory.take(50));  // Nobody in particular.
  second.reset();
  CHECK(memory.take(40, 1));
}

TEST_CASE("call memory: next to a caller that takes all it can, another one gets as much") {
  CallMemory memory(90);
  std::vector<CallMemory::Share> shares;
  std::array<int, 3> taken{};
  for (int round = 0; round < 90; ++round) {
    for (const uint64_t caller : {1, 2}) {
      auto share = memory.take(1, caller);
      if (!share) continue;
      ++taken[caller];
      shares.push_back(std::move(*share));
    }
  }
  CHECK(taken[1] == 30);
  CHECK(taken[2] == 30);
  CHECK(memory.take(30, 3));
  shares.clear();
  CHECK(memory.taken() == 0);
  CHECK(memory.take(90, 1));
}

TEST_CASE("call memory: threads at once never have more than there is") {
  CallMemory memory(3);
  std::atomic<int> holding{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        const auto share = memory.take(1);
        if (!share) continue;
        const int now = ++holding;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        --holding;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= 3);
  CHECK(memory.taken() == 0);
}
