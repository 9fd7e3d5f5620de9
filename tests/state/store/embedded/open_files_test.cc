// More table files than the process may open: a store is followed, read and written all the same.
// The limit on descriptors is lowered for as long as a test runs.
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "base/ids.h"
#include "base/host/open_files.h"
#include "base/metrics/process_stats.h"
#include "filter/filter.h"
#include "state/store/embedded/embedded_filter_follower.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr rlim_t kFewFiles = 90;
constexpr int kUsers = 1000;
constexpr int kItems = 8000;
constexpr int64_t kNowMs = 1'795'000'000'000;
const PeriodIndex kPeriod(682);

class OpenFilesLimit {
 public:
  // So many beyond those that are open.
  explicit OpenFilesLimit(rlim_t files) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit limit{files + read_process_stats().open_fds.value(), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

 private:
  rlimit before_{};
};

std::string user(int number) { return std::string(UserKey("", "u" + std::to_string(number)).bytes()); }
ItemHash item(int number) { return item_hash("v" + std::to_string(number)); }

struct World {
  Folder folder;
  ManualClock clock{kNowMs};
  Calendar calendar = *Calendar::create({});
  StateMemory memory{{.cache_bytes = 16 << 20, .write_buffer_bytes = 1 << 20}};
  EmbeddedFilterStoreConfig config{.path = folder / "store", .policy = {}, .write_buffer_bytes = 64 << 10};

  std::unique_ptr<EmbeddedFilterStore> write() {
    auto store = EmbeddedFilterStore::open(config, calendar, clock, memory);
    REQUIRE(store.status().to_string() == "ok");
    return std::move(store).value();
  }
  std::unique_ptr<EmbeddedFilterFollower> follow() {
    auto follower = EmbeddedFilterFollower::follow(config, calendar, clock, memory);
    REQUIRE(follower.status().to_string() == "ok");
    REQUIRE((*follower)->refresh().to_string() == "ok");
    return std::move(follower).value();
  }
  // About 25 MB, in files of 64 KiB and more.
  void fill() {
    const auto store = write();
    std::vector<ItemHash> items;
    for (int i = 0; i < kItems; ++i) items.push_back(item(i));
    for (int u = 0; u < kUsers; ++u) {
      const std::string key = user(u);
      const FilterUpdate update{key, kPeriod, items};
      REQUIRE(store->apply({&update, 1}).ok());
    }
    REQUIRE(store->advance(PartitionId(0), {}).ok());
    REQUIRE(store->compact().ok());
    REQUIRE(store->stats().table_files > kFewFiles);
  }
};

void expect_all(LocalFilterReader& store) {
  for (int u = 0; u < kUsers; ++u) {
    std::vector<StoredFilter> filters;
    const Status status = store.read(user(u), {&kPeriod, 1}, filters);
    INFO("user " << u);
    REQUIRE(status.to_string() == "ok");
    REQUIRE(filters.size() == 1);
    REQUIRE(filter::summarize(filters[0].value, filters[0].store_key)->items > kItems * 99 / 100);
  }
}

}  // namespace

TEST_CASE("open files: a store of more files than descriptors is followed, and written") {
  World world;
  world.fill();
  const OpenFilesLimit limit(kFewFiles);
  world.config.open_files_max = kFewFiles / 2;
  {
    const auto follower = world.follow();
    expect_all(*follower);
  }
  const auto store = world.write();
  expect_all(*store);
  REQUIRE(store->compact().to_string() == "ok");
  expect_all(*store);
}

TEST_CASE("open files: a follower that cannot keep all files open reads on while the writer replaces them") {
  World world;
  world.fill();
  const OpenFilesLimit limit(2 * kFewFiles);
  world.config.open_files_max = 50;
  const auto follower = world.follow();
  const auto store = world.write();
  std::vector<ItemHash> more = {item(kItems)};
  for (int round = 0; round < 2; ++round) {
    for (int u = 0; u < kUsers; ++u) {
      const std::string key = user(u);
      const FilterUpdate update{key, kPeriod, more};
      REQUIRE(store->apply({&update, 1}).ok());
    }
    REQUIRE(store->compact().to_string() == "ok");  // Every file that the follower knows is gone.
    expect_all(*follower);
  }
}

TEST_CASE("open files: files grow with the level, so that their number stays far below what the store holds") {
  World world;
  world.fill();
  const auto store = world.write();
  const FilterStoreStats stats = store->stats();
  CHECK(stats.open_files_max == open_files_limit() / 2);
  INFO(stats.table_files << " files of " << stats.bytes_on_disk << " bytes");
  CHECK(stats.table_files < stats.bytes_on_disk / world.config.write_buffer_bytes * 3 / 4);
}
