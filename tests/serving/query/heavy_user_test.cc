// Heavy users and the query core. A query borrows the bytes of dense filters, which has once been the end of them.
#include "tests/support/heavy_user.h"

#include <thread>

#include "tests/support/instrumented.h"

using namespace bloomring;

namespace {

struct Wrong {
  size_t unseen = 0;
  size_t seen = 0;
  size_t asked_unplayed = 0;
};

void count_wrong(const Candidates& asked, const FilterAnswer& answer, Wrong& wrong) {
  for (size_t c = 0; c < asked.ids.size(); ++c) {
    const bool seen = answer.verdict(c).seen;
    wrong.unseen += asked.played[c] && !seen ? 1 : 0;
    wrong.seen += !asked.played[c] && seen ? 1 : 0;
    wrong.asked_unplayed += asked.played[c] ? 0 : 1;
  }
}

FilterAnswer ask(ServingWorld& world, const HeavyUser& user, const Candidates& asked) {
  const UserKey key("", user.name);
  return world.core.answer(*world.partition, {key.bytes(), asked.ids, {}, {}});
}

}  // namespace

TEST_CASE("heavy user: every played item is seen, at the first question and at each later one") {
  const int months = GENERATE(1, 4);
  const size_t cache_bytes_max = GENERATE(size_t{0}, size_t{1} << 28);
  CAPTURE(months, cache_bytes_max);
  ServingWorld world({}, {.cache_bytes_max = cache_bytes_max});
  for (const HeavyUser& user : kHeavyUsers) play_and_merge(world, user, months);
  Wrong wrong;
  for (const size_t count : {size_t{20'000}, size_t{1}, size_t{7}, size_t{500}, size_t{5'000}, size_t{10'000}}) {
    for (const Mix mix : {Mix::kPlayed, Mix::kUnseen, Mix::kBoth}) {
      for (int again = 0; again < 2; ++again) {
        for (const HeavyUser& user : kHeavyUsers) {
          const Candidates asked = candidates(user, months, count, mix);
          const FilterAnswer answer = ask(world, user, asked);
          REQUIRE(answer.complete());
          count_wrong(asked, answer, wrong);
          REQUIRE(wrong.unseen == 0);
        }
      }
    }
  }
  CHECK(static_cast<double>(wrong.seen) <= 0.01 * static_cast<double>(wrong.asked_unplayed));
}

TEST_CASE("heavy user: the very first question of a process is answered as truly as any") {
  const int months = GENERATE(1, 4);
  ServingWorld world;
  for (const HeavyUser& user : kHeavyUsers) play_and_merge(world, user, months);
  for (const HeavyUser& user : kHeavyUsers) {
    for (const size_t count : {1, 100, 2'000, 5'000, 10'000, 20'000}) {
      CAPTURE(months, user.name, count);
      CandidateFilter fresh(world.store, utc_months(), world.clock, {});
      const UserKey key("", user.name);
      const Candidates asked = candidates(user, months, count, Mix::kPlayed);
      CHECK(fresh.answer(*world.partition, {key.bytes(), asked.ids, {}, {}}).seen_count == count);
      CHECK(fresh.answer(*world.partition, {key.bytes(), asked.ids, {}, {}}).seen_count == count);
    }
  }
}

TEST_CASE("heavy user: a question in a thread of its own is answered as truly as any") {
  ServingWorld world;
  for (const HeavyUser& user : kHeavyUsers) play_and_merge(world, user, 2);
  for (int round = 0; round < rounds(20); ++round) {
    std::vector<std::thread> threads;
    std::vector<Wrong> wrong(kHeavyUsers.size());
    for (size_t u = 0; u < kHeavyUsers.size(); ++u) {
      threads.emplace_back([&, u] {
        const Candidates asked = candidates(kHeavyUsers[u], 2, round % 2 == 0 ? 5'000 : 10'000, Mix::kPlayed);
        count_wrong(asked, ask(world, kHeavyUsers[u], asked), wrong[u]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Wrong& one : wrong) CHECK(one.unseen == 0);
  }
}

TEST_CASE("heavy user: min_keep, forgotten items and a failing store do not change what is seen") {
  ServingWorld world;
  const HeavyUser& user = kHeavyUsers[1];
  play_and_merge(world, user, 4);
  const UserKey key("", user.name);
  const Candidates asked = candidates(user, 4, 8'000, Mix::kPlayed);
  const FilterAnswer relaxed = world.core.answer(*world.partition, {key.bytes(), asked.ids, {}, {}, 1'000});
  CHECK(relaxed.seen_count >= 6'000);  // The oldest of four months is left out.
  CHECK(relaxed.seen_count <= 6'000 + 2'000 / 100);
  world.clock.advance_ms(1);
  world.forget_all(user.name);
  CHECK(ask(world, user, asked).seen_count == 0);
  world.store.fail_reads(true);
  const FilterAnswer incomplete = ask(world, user, asked);
  CHECK(incomplete.seen_count == 0);
}
