// The constants of the plan of capacity, in one place: what one play, byte or call costs.
//
// A constant is measured, and then names sections of bench/RESULTS.md that hold its figures, with a text of each; or
// it is assumed, and says why. tests/pipeline/plan/plan_constants_test.cc reads bench/RESULTS.md: a figure that is
// measured again is changed here too. What can be computed by the code that runs is no constant: sizes of filters,
// keys and records, the passes of a drain, the memory of processes (plan.h).
// Threading: constants.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "pipeline/plan/plan_range.h"

namespace bloomring {

// A place in bench/RESULTS.md.
struct PlanSource {
  std::string_view section;  // The text of a heading.
  std::string_view quote;    // Text of that section, up to the next heading; a line break counts as a space.
};

struct PlanConstant {
  std::string_view name;
  PlanRange value;
  std::string_view unit;  // As that of a row (plan.h).
  std::array<PlanSource, 2> sources = {};  // Both empty: assumed.
  std::string_view reason;  // How the figures become the value; of an assumed one, why.

  bool assumed() const { return sources.front().section.empty(); }
};

inline constexpr PlanConstant kChainCpu{
    .name = "chain CPU a play",
    .value = {2.97, 4.7, 4.92},
    .unit = "us",
    .sources = {{{"Ingest and whole chain", "| CPU us per play, raw play to merged filter | 2.97 |"},
                 {"Ingest and whole chain", "| 83,000 (`--part chain`), four runs | 4.45 to 4.92 |"}}},
    .reason = "low: at full speed; middle and high: of four runs at 83,000 plays a second"};
inline constexpr PlanConstant kIngestCpu{
    .name = "ingest CPU a play",
    .value = {1.28, 1.29, 1.56},
    .unit = "us",
    .sources = {{{"Ingest and whole chain", "| 1.28, 1.29, 1.56 |"}}},
    .reason = "the part of the chain that one thread reads; three runs"};
inline constexpr PlanConstant kPlayRecordBytes{
    .name = "bytes of a play in the site's topic",
    .value = {108, 108, 108},
    .unit = "bytes",
    .sources = {{{"Ingest and whole chain", "108 bytes of JSON a play"}}},
    .reason = "as `bloomring generate` writes them"};
inline constexpr PlanConstant kReplicaCpu{
    .name = "replica CPU an event",
    .value = {1 / 9.5, 1 / 7.8, 1 / 5.3},
    .unit = "us",
    .sources = {{{"Rebuild", "| serve replica | 7.8 (7.3 to 9.5) |"},
                 {"Rebuild", "| serve replica, recent plays in memory | 5.3 | 4.3 | 2 |"}}},
    .reason = "1 / million events a CPU second"};
inline constexpr PlanConstant kReplicaRebuild{
    .name = "events that a replica reads again in a second",
    .value = {4.3e6, 5.3e6, 7.8e6},
    .unit = "events/s",
    .sources = {{{"Rebuild", "| serve replica, recent plays in memory | 5.3 | 4.3 | 2 |"},
                 {"Rebuild", "| serve replica | 7.8 (7.3 to 9.5) |"}}},
    .reason = "low: by the wall without Kafka; middle and high: a CPU second"};
inline constexpr PlanConstant kWindowRebuild{
    .name = "events that a window thread reads again in a second",
    .value = {7.6e6, 7.6e6, 8.6e6},
    .unit = "events/s",
    .sources = {{{"Rebuild", "| window stage | 14.3 (13.8 to 21.0) | 7.6 million a second by the wall"},
                 {"Rebuild", "| window stage, with its store on disk, flushed | 14.6 | 8.6 | 2 |"}}},
    .reason = "by the wall, with and without Kafka"};
inline constexpr PlanConstant kDrainCpu{
    .name = "drain CPU an event, without its passes",
    .value = {0.0145, 0.0157, 0.0159},
    .unit = "us",
    .sources = {{{"Drains: `ingest_bench`", "| 15.7 (14.5 to 15.9) ns |"}}},
    .reason = "two passes, less what each pass costs"};
inline constexpr PlanConstant kDrainPassCpu{
    .name = "drain CPU an event and pass",
    .value = {0.0100, 0.0101, 0.0107},
    .unit = "us",
    .sources = {{{"Drains: `ingest_bench`", "| 10.1 (10.0 to 10.7) ns |"}}},
    .reason = "each pass reads the whole slot"};
inline constexpr PlanConstant kMergeEmbedded{
    .name = "merge CPU a user and slot, embedded store",
    .value = {3.4, 5.1, 6.8},
    .unit = "us",
    .sources = {{{"On a redis-server: `redis_store_bench`", "| embedded | 3.4 us |"},
                 {"Filter store and window store", "| 32 MiB | 10.2 | 19.0 | 1.7 |"}}},
    .reason = "high: 1.7 us a play in batches of 4, with compactions; middle: of both"};
inline constexpr PlanConstant kMergeRedis{
    .name = "merge CPU a user and slot, store on servers",
    .value = {8.7, 8.7, 8.7},
    .unit = "us",
    .sources = {{{"On a redis-server: `redis_store_bench`", "| redis | 8.7 us | 1.95 | 316 |"}}},
    .reason = "of the merge process; one run"};
inline constexpr PlanConstant kCallCpu{
    .name = "CPU of a call without its candidates",
    .value = {200, 250, 300},
    .unit = "us",
    .sources = {{{"Query service", "| the rest: gRPC, HTTP/2, the kernel, cold caches | 200 to 300 |"}}},
    .reason = "middle: of both"};
inline constexpr PlanConstant kCandidateCpu{
    .name = "CPU of a candidate",
    .value = {124.0 / 5000, 126.5 / 5000, 129.0 / 5000},
    .unit = "us",
    .sources = {{{"Query service", "| decode: check lengths and UTF-8 | 9 to 12 | |"},
                 {"Query service", "| filters of four months | 76 to 78 | |"}}},
    .reason = "the sum of the parts of a call of 5,000 candidates, without the rest"};
inline constexpr PlanConstant kRecentPlayBytes{
    .name = "replica memory a recent play",
    .value = {16, 35, 54},
    .unit = "bytes",
    .sources = {{{"Query service", "16 to 54 bytes a play"}}},
    .reason = "by the plays of a user in the lap; middle: of both"};

inline constexpr PlanConstant kServerMemory{
    .name = "memory of a redis-server for a byte of key and value",
    .value = {1.118, 1.118, 1.118},
    .unit = "",
    .sources = {{{"Memory of a redis-server: `redis_memory_bench.py`", "| 5,974 | 6,680 | 1.118 |"}}},
    .reason = "values of the lengths of filters, with an expiry"};
inline constexpr PlanConstant kSortedSetEntry{
    .name = "memory of a redis-server for an entry of a sorted set",
    .value = {110.1, 118, 126.1},
    .unit = "bytes",
    .sources = {{{"Memory of a redis-server: `redis_memory_bench.py`", "| 30,000 | 10 | 110.1 |"},
                 {"Memory of a redis-server: `redis_memory_bench.py`", "| 30,000 | 24 | 126.1 |"}}},
    .reason = "ids of items of 10 and of 24 bytes; middle: of both"};

// Assumed. Of the plays: the month of real plays (KuaiRand-27K) that `bloomring generate` follows (load/load_model.h).
inline constexpr PlanConstant kPlaysOfUser{
    .name = "plays of a user in 90 days",
    .value = {10'000, 10'000, 10'000},
    .unit = "",
    .reason = "a site of short videos; --plays-per-day sets it"};
inline constexpr PlanConstant kPlaysSigma{
    .name = "sigma of plays a user, log-normal",
    .value = {0.82, 0.82, 0.82},
    .unit = "",
    .reason = "a month of real plays, as `bloomring generate`; --plays-per-user sets it"};
inline constexpr PlanConstant kRepeats{
    .name = "share of plays that repeat an item",
    .value = {0.05, 0.05, 0.05},
    .unit = "",
    .reason = "as `bloomring generate`; --repeats sets it"};
inline constexpr PlanConstant kPeak{
    .name = "plays in the fullest hour of a day, of a mean hour",
    .value = {1.65, 1.65, 1.65},
    .unit = "",
    .reason = "a month of real plays, as `bloomring generate`; --peak sets it"};
inline constexpr PlanConstant kSessionPlays{
    .name = "plays of a session",
    .value = {20, 20, 20},
    .unit = "",
    .reason = "as `bloomring generate`, and a session lies in one slot; --plays-per-session sets it"};
inline constexpr PlanConstant kCallPlays{
    .name = "plays for one call of Filter",
    .value = {8, 8, 8},
    .unit = "",
    .reason = "a feed that loads 5 to 10 videos at a time; --plays-per-call sets it"};
inline constexpr PlanConstant kServes{
    .name = "items recorded as served, for each play",
    .value = {1, 1, 1},
    .unit = "",
    .reason = "each video that is shown is recorded; --serves-per-play sets it"};
inline constexpr PlanConstant kCoreShare{
    .name = "share of the cores in use at the peak",
    .value = {0.6, 0.6, 0.6},
    .unit = "",
    .reason = "room for bursts, catching up and a lost machine's work; --core-share sets it"};
inline constexpr PlanConstant kRoomShare{
    .name = "share of memory and disk in use",
    .value = {0.8, 0.8, 0.8},
    .unit = "",
    .reason = "the rest is for the kernel, its cache and what a backup or a compaction takes"};
inline constexpr PlanConstant kKafkaRecordBytes{
    .name = "Kafka's own bytes of a record",
    .value = {20, 70, 80},
    .unit = "bytes",
    .reason = "a batch has a head of 61 bytes and a record one of about 10; low: six records a batch"};
inline constexpr PlanConstant kServedItemBytes{
    .name = "replica memory a served item",
    .value = {16, 16, 32},
    .unit = "bytes",
    .reason = "serving/query/served_items.h; high: tables that have just grown"};
inline constexpr PlanConstant kServedUserBytes{
    .name = "replica memory a user with served items",
    .value = {80, 80, 160},
    .unit = "bytes",
    .reason = "serving/query/served_items.h; high: tables that have just grown"};
inline constexpr PlanConstant kEntryBytes{
    .name = "RocksDB's own bytes of a filter",
    .value = {12, 16, 24},
    .unit = "bytes",
    .reason = "8 bytes of number and type, three lengths, and a part of the index of the file"};
inline constexpr PlanConstant kStoreSlack{
    .name = "bytes on disk of a byte that is stored, embedded",
    .value = {1.05, 1.11, 1.3},
    .unit = "",
    .reason = "levels of ten times the size hold a ninth of what is replaced; high: during a compaction"};
inline constexpr PlanConstant kWriteFactor{
    .name = "bytes written to disk of a byte that is handed over",
    .value = {1.9, 15, 30},
    .unit = "",
    .reason = "low: measured with 40,000 users (19.0 of 10.2 bytes); a large store has four or five levels"};
inline constexpr PlanConstant kDiskReadRate{
    .name = "bytes a second that a backup is copied back",
    .value = {0.2e9, 0.5e9, 1e9},
    .unit = "bytes/s",
    .reason = "one NVMe disk or a network of 10 Gbit/s; not measured"};

// All of them, in the order of this file.
std::span<const PlanConstant* const> plan_constants();

}  // namespace bloomring
