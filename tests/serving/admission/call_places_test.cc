#include "serving/admission/call_places.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

using namespace bloomring;

namespace {

constexpr uint64_t kGreedy = 1, kModest = 2, kAnother = 3;
using Entrance = CallPlaces::Entrance;

struct NotedCall final : CallPlaces::Call {
  bool ended = false;

 private:
  void end() override { ended = true; }
};

struct Calls {
  explicit Calls(size_t calls_max) : places(calls_max) {}
  ~Calls() {
    for (NotedCall& call : calls) places.leave(call);
  }
  Entrance enter(uint64_t host) { return places.enter(calls.emplace_back(), host); }
  Entrance speak(uint64_t host) {
    const Entrance entrance = enter(host);
    places.spoke(calls.back());
    return entrance;
  }
  // The numbers of those that were displaced.
  std::vector<size_t> ended() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].ended) found.push_back(i);
    }
    return found;
  }
  int64_t open() const { return places.counters().open; }

  CallPlaces places;
  std::deque<NotedCall> calls;
};

using Ended = std::vector<size_t>;

}  // namespace

TEST_CASE("call places: calls below the bound all have one, and one that leaves makes room") {
  Calls calls(3);
  for (int i = 0; i < 3; ++i) CHECK(calls.speak(kGreedy) == Entrance::kPlace);
  CHECK(calls.open() == 3);
  calls.places.leave(calls.calls[1]);
  CHECK(calls.open() == 2);
  CHECK(calls.speak(kGreedy) == Entrance::kPlace);
  CHECK(calls.ended().empty());
  calls.places.answered(calls.calls[0]);
  CHECK(calls.speak(kGreedy) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{0});
}

TEST_CASE("call places: a host without open calls is forgotten, whatever became of them") {
  Calls calls(2);
  CHECK(calls.places.hosts() == 0);
  calls.speak(kGreedy);
  calls.enter(kModest);
  CHECK(calls.places.hosts() == 2);
  calls.enter(kAnother);  // The modest one's call gives way.
  CHECK(calls.places.hosts() == 2);
  calls.places.leave(calls.calls[0]);
  calls.places.leave(calls.calls[2]);
  CHECK(calls.places.hosts() == 0);
}

TEST_CASE("call places: without room the oldest silent call of the host with most of them gives way, to anybody") {
  Calls calls(4);
  calls.enter(kModest);   // 0
  calls.enter(kGreedy);   // 1
  calls.speak(kGreedy);   // 2
  calls.enter(kGreedy);   // 3
  CHECK(calls.enter(kGreedy) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{1});
  CHECK(calls.speak(kAnother) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{1, 3});
  CHECK(calls.open() == 4);
  CHECK(calls.places.counters().silent_displaced == 2);
}

TEST_CASE("call places: a call is silent until its message has come") {
  Calls calls(2);
  calls.enter(kGreedy);
  calls.enter(kGreedy);
  calls.places.spoke(calls.calls[0]);
  CHECK(calls.enter(kGreedy) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{1});
}

TEST_CASE("call places: where no call is silent, a host loses its oldest one until hosts that want more have as many") {
  Calls calls(5);
  for (int i = 0; i < 5; ++i) calls.speak(kGreedy);
  for (int i = 0; i < 2; ++i) CHECK(calls.speak(kModest) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{0, 1});
  CHECK(calls.enter(kModest) == Entrance::kFull);  // It would have more than the other. An eighth of 5 is none.
  CHECK(calls.enter(kGreedy) == Entrance::kFull);
  CHECK(calls.open() == 5);
  CHECK(calls.places.counters().working_displaced == 2);
  CHECK(calls.places.counters().refused == 2);
}

TEST_CASE("call places: refused calls are open until they leave, and are an eighth of the others at most") {
  Calls calls(16);
  for (int i = 0; i < 16; ++i) calls.speak(kGreedy);
  for (int i = 0; i < 2; ++i) CHECK(calls.enter(kGreedy) == Entrance::kRefused);
  CHECK(calls.open() == 18);
  CHECK(calls.ended().empty());
  CHECK(calls.enter(kGreedy) == Entrance::kRefused);
  CHECK(calls.ended() == Ended{16});
  CHECK(calls.open() == 18);
  CHECK(calls.speak(kModest) == Entrance::kPlace);  // For it the refused ones go, too.
  CHECK(calls.ended() == Ended{0, 16, 17, 18});
  CHECK(calls.open() == 16);
  CHECK(calls.places.counters().answered_displaced == 3);
}

TEST_CASE("call places: an answered call whose client does not read gives way, also to one of its own host") {
  Calls calls(3);
  for (int i = 0; i < 3; ++i) calls.speak(kGreedy);
  for (const size_t i : {1, 2}) calls.places.answered(calls.calls[i]);
  CHECK(calls.speak(kGreedy) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{1});
  CHECK(calls.speak(kModest) == Entrance::kPlace);
  CHECK(calls.ended() == Ended{1, 2});
  CHECK(calls.open() == 3);
  CHECK(calls.places.counters().answered_displaced == 2);
}

TEST_CASE("call places: a call that was displaced, or had no place, leaves as any other, and twice is once") {
  Calls calls(1);
  calls.enter(kGreedy);
  calls.enter(kGreedy);
  REQUIRE(calls.ended() == Ended{0});
  calls.places.spoke(calls.calls[0]);
  calls.places.leave(calls.calls[0]);
  CHECK(calls.open() == 1);
  calls.places.leave(calls.calls[1]);
  calls.places.leave(calls.calls[1]);
  CHECK(calls.open() == 0);
}
