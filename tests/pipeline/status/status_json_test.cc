#include "pipeline/status/status_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace bloomring;

namespace {

constexpr RingConfig kConfig{.slots = 4, .slot_ms = 1000};

}  // namespace

TEST_CASE("status: without local state a ring shows its merged offset alone") {
  CHECK(to_json(ring_status(kConfig, std::nullopt, Offset(7))).dump() == R"({"merged_offset":7})");
  CHECK(to_json(ring_status(kConfig, std::nullopt, std::nullopt)).dump() == R"({"merged_offset":null})");
}

TEST_CASE("status: stages show their partitions with rings, and the store where they write it") {
  StageStatus window{.stage = "window",
                     .partitions = {{{"user-events", PartitionId(3)}, {Offset(103), Offset(-1), Offset(110)}, 1.5}}};
  window.partitions[0].ring = ring_status(kConfig, std::nullopt, Offset(7));
  const StageStatus merge{.stage = "merge", .store = StoreStatus{"/store", 1000}};
  const StageStatus serve{.stage = "serve", .address = "127.0.0.1:7700", .numbers = {{"recent_plays", 12}}};
  CHECK(to_json(std::vector{window, merge, serve}) ==
        R"({"stages":[{"stage":"window","partitions":[{"topic":"user-events","partition":3,"applied":103,)"
        R"("log_end":110,)"
        R"("behind_seconds":1.5,"ring":{"merged_offset":7}}]},)"
        R"({"stage":"merge","partitions":[],"store":{"path":"/store","bytes_on_disk":1000}},)"
        R"({"stage":"serve","address":"127.0.0.1:7700","numbers":{"recent_plays":12.0},"partitions":[]}]})"
        "\n");
}

TEST_CASE("status: a store that was read through shows its periods") {
  const StoreStatus store{"/store", 1000, StoreStatus::Contents{1, {{"2026-11", 2, 300}}}};
  CHECK(to_json(store).dump() == R"({"path":"/store","bytes_on_disk":1000,"unreadable":1,)"
                                 R"("periods":[{"period":"2026-11","filters":2,"bytes":300}]})");
}
