#include "operators/filters/user_batch_writer.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"

using namespace bloomring;

namespace {

constexpr uint32_t kPartitionCount = 1;
constexpr PartitionId kPartition(0);
constexpr uint32_t kQuarter = 1'832'572;  // Holds 2022-04-07 07:00:23 UTC.
constexpr int64_t kForgottenMs = 1'649'316'000'000;
const ItemHash kTwice(7);

}  // namespace

TEST_CASE("user batch writer: each record of a user has every forget of the items that are played in it") {
  // The later forget was logged first, so plays that are merged between the two make it reach less far.
  std::vector<Forget> forgets = {{false, false, kTwice, kForgottenMs, Offset(1300)},
                                        {false, false, kTwice, kForgottenMs + 1000, Offset(1200)}};
  std::ranges::sort(forgets);
  std::vector<DrainedPlay> plays;
  for (uint64_t item = 1; item <= 100; ++item) plays.push_back({kQuarter, 1, ItemHash(item)});
  UserBatchWriter writer({kPartition, kPartitionCount, {Offset(1000), Offset(1500)}, DrainAttempt::kFirst, 1}, 200);
  const UserKey user("", "u");
  std::vector<std::string> records;
  writer.add(user.bytes(), forgets, plays, records);
  writer.close(records);
  REQUIRE(records.size() > 3);
  int with_item = 0;
  for (const std::string& record : records) {
    auto reader = UserBatchReader::open(record, kPartition, kPartitionCount).value();
    REQUIRE(reader.next_user());
    const auto of_item = std::ranges::count(reader.forgets(), kTwice, &Forget::item);
    QuarterIndex quarter(0);
    std::vector<ItemHash> items;
    std::vector<int64_t> times_ms;
    int64_t played = 0;
    while (reader.next_quarter(quarter, items, times_ms)) played += std::ranges::count(items, kTwice);
    if (played == 0) continue;
    ++with_item;
    CHECK(of_item == 2);
  }
  CHECK(with_item == 1);
}
