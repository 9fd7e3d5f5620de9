// A disk without room, at every moment of a store's life: an error with its reason, and never the end of the process.
// A limit on the size of files stands for the full disk: writing beyond it fails, and nothing else needs to be mounted.
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "state/window/rocks_window_store.h"
#include "tests/state/window/numbered_blocks.h"
#include "tests/support/folder.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr rlim_t kStepBytes = 6 << 10;
constexpr rlim_t kBytesMax = 24 << 10;  // More than any of the small files that an open store begins with.

class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

// The first error of a life of the store, or ok.
Status live(const RocksWindowStoreConfig& config, const StateMemory& memory) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<RocksWindowStore> store, RocksWindowStore::open(config, memory));
  WindowState state;
  state.partition_count = config.partition_count;
  state.filling = HourIndex(5);
  for (int64_t offset = 0; offset < 40; ++offset) {
    state.applied = Offset(offset + 1);
    state.hours = {{HourIndex(5), {Offset(0), state.applied}, 1, 1}};
    BLOOMRING_TRY(store->stage(HourIndex(5), Offset(offset), std::string(3000, 'x'), state));
    if (offset % 10 == 9) BLOOMRING_TRY(store->flush());
  }
  return {};
}

Status live(const EmbeddedFilterStoreConfig& config, const Calendar& calendar, const Clock& clock,
            const StateMemory& memory) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<EmbeddedFilterStore> store,
                       EmbeddedFilterStore::open(config, calendar, clock, memory));
  std::vector<ItemHash> items;
  for (int i = 0; i < 2000; ++i) items.push_back(item_hash(std::to_string(i)));
  for (int user = 0; user < 40; ++user) {
    const UserKey key("", "u" + std::to_string(user));
    const FilterUpdate update{key.bytes(), calendar.period_of_ms(clock.now_ms()), items};
    BLOOMRING_TRY(store->apply({}, std::span(&update, 1)));
    BLOOMRING_TRY(store->advance(PartitionId(0), {Offset(user + 1), HourIndex(user), {}}));
  }
  return {};
}

// The error of a life in which no file gets larger.
template <typename Live>
Status live_within(rlim_t bytes, const Live& live_once) {
  const FileLimit limit(bytes);
  return live_once();
}

void check_reason(const Status& status) {
  INFO(status.to_string());
  CHECK(status.code() == Code::kFatal);
  CHECK(status.message().find("File too large") != std::string::npos);
}

}  // namespace

TEST_CASE("full disk: a window store says what it cannot write, and goes on when there is room") {
  const StateMemory memory{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
  for (rlim_t bytes = 0; bytes <= kBytesMax; bytes += kStepBytes) {
    CAPTURE(bytes);
    const Folder folder;
    const auto life = [&] { return live(RocksWindowStoreConfig{folder / "w", kBlocksPartitionCount}, memory); };
    check_reason(live_within(bytes, life));
    check_reason(live_within(bytes, life));
    CHECK(life().to_string() == "ok");
  }
  CHECK(memory.health(RocksKind::kWindow).background_errors > 0);  // Of stores that are closed.
}

// After a write that failed it can be used by another process only; tests/real/test_full_disk.py shows that one goes
// on.
TEST_CASE("full disk: a filter store says what it cannot write") {
  const SystemClock clock;
  const Calendar calendar = *Calendar::create({});
  const StateMemory memory{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
  for (rlim_t bytes = 0; bytes <= kBytesMax; bytes += kStepBytes) {
    CAPTURE(bytes);
    const Folder folder;
    const EmbeddedFilterStoreConfig config{.path = folder / "store", .policy = {}};
    check_reason(live_within(bytes, [&] { return live(config, calendar, clock, memory); }));
  }
}
