#include "serving/admission/call_memory.h"

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
