// A merge with plays and forgets while an export is made, and the same log merged again behind the import.
#include <algorithm>
#include <array>
#include <map>
#include <thread>

#include "operators/filters/merge.h"
#include "serving/query/forget_view.h"
#include "tests/state/store/transfer/transfer_beds.h"
#include "tests/support/sealed_slot_end.h"

using namespace bloomring;
using namespace bloomring::testing;

#define TRANSFERS EmbeddedToRedis, RedisToEmbedded

namespace {

const PartitionId kPartition(0);
const std::vector<std::string> kItems = {"1", "2", "3", "9"};
constexpr int64_t kHourMs = 3'600'000;
constexpr int kFiles = 6;  // One value each: hour 0 leaves a forgotten value and five filters.

// The n-th user whose shard is in the partition.
std::string name_of(size_t n) {
  for (int i = 0;; ++i) {
    const std::string name = "u" + std::to_string(100 + i);
    if (partition_of(UserRef(user(name)).shard(), kBedPartitions) == kPartition && n-- == 0) return name;
  }
}

// The events of one user in an hour. The forgets come first, then the plays; the forget "*" is of everything.
struct Does {
  std::string forgets;
  std::string plays;
};
using Hour = std::array<Does, 5>;
const std::array<Hour, 3> kLog = {{
    {{{"", "1"}, {"", "1"}, {"", "12"}, {"9", "1"}, {"", "1"}}},
    {{{"", "2"}, {"*", "2"}, {"12", "2"}, {"*", ""}, {"*", ""}}},
    {{{"", "3"}, {"", "3"}, {"", "3"}, {"", "1"}, {"", ""}}},
}};
const std::array<std::string, 5> kSeen = {"123", "23", "23", "1", ""};

// The records of user-batches of hour `h`: offsets [10 h, 10 h + 10) of user-events.
std::vector<std::string> records_of(int64_t h) {
  const DrainHeader header{kPartition, kBedPartitions, {Offset(10 * h), Offset(10 * h + 10)}, DrainAttempt::kFirst};
  const int64_t forget_ms = kNowMs + (h - 3) * kHourMs;
  UserBatchBuilder builder;
  for (size_t u = 0; u < kSeen.size(); ++u) {
    const Does& does = kLog.at(static_cast<size_t>(h)).at(u);
    std::vector<Forget> forgets;
    for (const char c : does.forgets) {
      const ItemHash item = c == '*' ? ItemHash(0) : item_hash(std::string(1, c));
      forgets.push_back({c == '*', false, item, forget_ms, Offset(10 * h + 5)});
    }
    std::vector<DrainedPlay> plays;
    for (const char c : does.plays) plays.push_back(DrainedPlay::at(forget_ms + 1000, item_hash(std::string(1, c))));
    std::ranges::sort(forgets);
    std::ranges::sort(plays);
    if (!forgets.empty() || !plays.empty()) builder.add(user(name_of(u)), forgets, plays);
  }
  const std::string batch = builder.finish(header);
  return {batch, sealed_slot_end(header, {{HourIndex(forget_ms / kHourMs), header.range}}, {batch})};
}

template <typename Store>
Merge merge_into(Store& store, const Calendar& calendar) {
  return Merge({kPartition, kBedPartitions}, calendar, std::move(store.take_over(kPartition)).value(),
               store.read_watermark(kPartition).value());
}

void merge_hour(Merge& merge, int64_t hour) {
  for (const std::string& record : records_of(hour)) {
    std::string detail;
    while (true) {
      const auto applied = merge.apply(record, kNowMs, detail);
      INFO(detail);
      REQUIRE(applied.status().to_string() == "ok");
      if (*applied) break;
      std::this_thread::yield();
    }
  }
}

// The items that a query would call seen by the store alone.
std::string seen_in(FilterReader& store, const Calendar& calendar, size_t u) {
  const std::string key = user(name_of(u));
  const PeriodIndex period(kNow);
  const auto stored = read_now(store, key, {&period, 1});
  REQUIRE(stored.status().to_string() == "ok");
  const ForgetView view({}, stored->forgotten, calendar);
  std::string seen;
  for (const std::string& item : kItems) {
    if (stored->filters.empty() || !view.filter_counts(period) || view.masked(item_hash(item), period)) continue;
    seen += Bed::items_in(stored->filters, name_of(u), {item});
  }
  return seen;
}

// Merges the second hour into the source when the export has written `cut` files. `killed`: the export ends there, and
// is begun again.
template <typename Transfer>
void move_store(Transfer& transfer, int cut, bool killed) {
  Merge source = merge_into(transfer.bed.store(), transfer.bed.calendar);
  merge_hour(source, 0);
  transfer.options.file_bytes = 1;
  int files = 0;
  transfer.options.progress = [&](const ExportManifest&) {
    if (++files != cut) return;
    merge_hour(source, 1);
    if (killed) throw std::runtime_error("killed");
  };
  if (killed) REQUIRE_THROWS(transfer.take());
  const auto taken = transfer.take();
  REQUIRE(taken.status().to_string() == "ok");
  REQUIRE(files >= cut);
  REQUIRE(taken->watermarks.at(kPartition).offset == Offset(10));
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  Merge target = merge_into(transfer.target.store(), transfer.target.calendar);
  for (const int64_t hour : {1, 2}) merge_hour(target, hour);
}

}  // namespace

TEMPLATE_TEST_CASE("export: whenever a merge with forgets comes, behind the import and the log from the watermark on "
                   "every play is seen, and the forgotten ones are not",
                   "", TRANSFERS) {
  const bool killed = GENERATE(false, true);
  const int cut = killed ? GENERATE(1, 3) : GENERATE(range(1, kFiles));
  TestType transfer;
  move_store(transfer, cut, killed);
  for (size_t u = 0; u < kSeen.size(); ++u) {
    INFO("user " << u << ", merged after file " << cut << (killed ? ", killed there" : ""));
    CHECK(seen_in(transfer.target.store(), transfer.target.calendar, u) == kSeen.at(u));
  }
}
