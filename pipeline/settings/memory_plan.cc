#include "pipeline/settings/memory_plan.h"

#include <algorithm>
#include <cstdio>

namespace bloomring {

namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kNoMost = UINT64_MAX;

// What a process takes before it has done anything, and what the allocator holds of memory that was freed: an eighth.
constexpr uint64_t kProcessBytes = 48 * kMiB;
constexpr uint64_t kSlackShare = 8;

// A partition's queue that is smaller stalls for a second again and again (librdkafka 2.0.2); a larger one gains
// nothing.
constexpr uint64_t kPlaysQueueLeast = 2 * kMiB, kPlaysQueueMost = 64 * kMiB;
// A site's topic may have more partitions than we would make. The others of them get what the smallest queue takes
// (queue_bounds of pipeline/kafka/client.cc: 64 KiB and 64 KiB, times four): each has few plays, and may stall.
constexpr uint64_t kPlaysQueueSmallest = kMiB / 2;
constexpr uint64_t kBlocksQueueLeast = 1 * kMiB, kBlocksQueueMost = 32 * kMiB;
constexpr uint64_t kSendLeast = 8 * kMiB, kSendMost = 256 * kMiB;
// Of each window store that is open: its write buffer's arena, table readers, the log of the last write.
constexpr uint64_t kWindowStoreLeast = 1 * kMiB;
constexpr uint64_t kStoresLeast = 32 * kMiB;
constexpr uint64_t kDrainPassLeast = 1 * kMiB, kDrainPassMost = 64 * kMiB;
constexpr uint64_t kRecentLeast = 1 * kMiB, kServedLeast = kMiB / 2;
constexpr uint64_t kFilterCacheLeast = 8 * kMiB;
constexpr uint64_t kCallsLeast = 16 * kMiB, kCallsMost = 128 * kMiB;

// A part before the limit is shared out.
struct Claim {
  MemoryUse use;
  std::string_view name;
  uint64_t least;
  uint64_t weight;  // 0: takes its least.
  uint64_t most;
};

// How many partitions this process is planned for.
struct Counts {
  uint64_t plays, pipeline, held;
};

// Partitions of the topics of plays where we make them.
uint64_t plays_made(const Settings& settings) {
  return uint64_t{settings.topics.plays_partitions} * settings.topics.plays.size();
}

Counts count(const Settings& settings, std::optional<uint64_t> plays_partitions) {
  const auto planned = [&](uint64_t of_all) {
    return settings.memory.partitions == 0 ? of_all : std::min<uint64_t>(of_all, settings.memory.partitions);
  };
  const uint64_t plays = plays_partitions.value_or(plays_made(settings));
  const ServeSettings& serve = settings.serve;
  const uint64_t copies = uint64_t{settings.topics.partitions} * serve.replication_factor;
  return {planned(plays), planned(settings.topics.partitions),
          (copies + serve.replica_count - 1) / serve.replica_count};
}

// Passes that take memory at the same time, for one partition count and number of threads.
uint64_t passes_at_once(const Settings& settings) {
  return settings.threads.window + (count(settings, std::nullopt).pipeline + 3) / 4;
}

std::vector<Claim> claims_of(const Settings& settings, const Counts& counts) {
  const auto [plays, pipeline, held] = counts;
  const bool window = settings.runs(Stage::kWindow), merge = settings.runs(Stage::kMerge),
             serve = settings.runs(Stage::kServe);
  const bool ingest = settings.runs(Stage::kIngest);
  std::vector<Claim> claims;
  claims.push_back(
      {MemoryUse::kProcess, "process and allocator", kProcessBytes + settings.memory.limit / kSlackShare, 0, 0});
  if (ingest) {
    const uint64_t of_size = std::min(plays, plays_made(settings));
    const uint64_t least = std::max(of_size * kPlaysQueueLeast, plays * kPlaysQueueSmallest);
    claims.push_back({MemoryUse::kIngestQueue, "ingest queue", least, 5, plays * kPlaysQueueMost});
    const uint64_t open = uint64_t{settings.topics.partitions} * settings.ingest.block_bytes;
    claims.push_back({MemoryUse::kIngestBlocks, "ingest blocks", open + open / 4, 0, 0});
  }
  const auto queue = [&](MemoryUse use, std::string_view name, uint64_t partitions, uint64_t weight) {
    claims.push_back({use, name, partitions * kBlocksQueueLeast, weight, partitions * kBlocksQueueMost});
  };
  if (window) queue(MemoryUse::kWindowQueue, "window queue", pipeline, 2);
  if (merge) queue(MemoryUse::kMergeQueue, "merge queue", pipeline, 1);
  if (serve) queue(MemoryUse::kServeQueue, "serve queue", held, 2);
  claims.push_back({MemoryUse::kSendQueue, "send queue", kSendLeast, 1, kSendMost});
  if (serve) claims.push_back({MemoryUse::kServedQueue, "served queue", kSendLeast, 1, kSendMost / 4});
  if (window || merge || serve) {
    const uint64_t least = kStoresLeast + (window ? pipeline * kWindowStoreLeast : 0);
    claims.push_back({MemoryUse::kStores, "stores", least, 5, kNoMost});
  }
  if (window) {
    const uint64_t passes = passes_at_once(settings);
    claims.push_back({MemoryUse::kDrains, "drains", passes * kDrainPassLeast, 1, passes * kDrainPassMost});
  }
  if (serve) {
    claims.push_back({MemoryUse::kRecentPlays, "recent plays", held * kRecentLeast, 6, kNoMost});
    claims.push_back({MemoryUse::kServedItems, "served items", held * kServedLeast, 2, kNoMost});
    claims.push_back({MemoryUse::kFilterCache, "filter cache", kFilterCacheLeast, 3, kNoMost});
    claims.push_back({MemoryUse::kCalls, "calls", kCallsLeast, 1, kCallsMost});
  }
  return claims;
}

// Shares `left` out by weight among the parts that still take something, until nothing is left or nobody takes it.
void share_out(uint64_t left, const std::vector<Claim>& claims, std::vector<MemoryPart>& parts) {
  for (bool gave = true; gave && left > 0;) {
    gave = false;
    uint64_t weights = 0;
    for (size_t i = 0; i < claims.size(); ++i) weights += parts[i].bytes < claims[i].most ? claims[i].weight : 0;
    const uint64_t round = left;
    for (size_t i = 0; i < claims.size() && weights > 0; ++i) {
      if (parts[i].bytes >= claims[i].most) continue;
      const auto fair = static_cast<uint64_t>(static_cast<double>(round) * static_cast<double>(claims[i].weight) /
                                              static_cast<double>(weights));
      const uint64_t given = std::min({fair, claims[i].most - parts[i].bytes, left});
      parts[i].bytes += given;
      left -= given;
      gave |= given > 0;
    }
  }
  parts.front().bytes += left;  // The crumbs of the divisions, and what no part of an ingest process can use.
}

Status too_small(const Settings& settings, const Counts& counts, const std::vector<Claim>& claims) {
  const auto [plays, pipeline, held] = counts;
  uint64_t fixed = kProcessBytes;
  std::string list = bytes_text(kProcessBytes) + " and an eighth of the limit for the process and its allocator";
  for (const Claim& claim : claims) {
    if (claim.use == MemoryUse::kProcess) continue;
    fixed += claim.least;
    list += ", " + bytes_text(claim.least) + " for " + std::string(claim.name);
  }
  // limit - limit / 8 >= fixed.
  const uint64_t needed = (fixed * kSlackShare / (kSlackShare - 1) / kMiB + 1) * kMiB;
  return invalid("is " + bytes_text(settings.memory.limit) + "; it must be at least " + bytes_text(needed) +
                 " for these stages with " + std::to_string(pipeline) + " partitions (memory.partitions), " +
                 std::to_string(plays) + " of plays and " + std::to_string(held) + " held for queries: " + list +
                 ". Raise it, run fewer stages in a process, or plan for fewer partitions (memory.partitions)");
}

}  // namespace

uint64_t MemoryPlan::of(MemoryUse use) const {
  for (const MemoryPart& part : parts_) {
    if (part.use == use) return part.bytes;
  }
  return 0;
}

uint64_t MemoryPlan::total() const {
  uint64_t total = 0;
  for (const MemoryPart& part : parts_) total += part.bytes;
  return total;
}

uint64_t MemoryPlan::drain_pass_bytes(const Settings& settings) const {
  return of(MemoryUse::kDrains) / passes_at_once(settings);
}

Result<MemoryPlan> plan_memory(const Settings& settings, std::optional<uint64_t> plays_partitions) {
  const Counts counts = count(settings, plays_partitions);
  const std::vector<Claim> claims = claims_of(settings, counts);
  std::vector<MemoryPart> parts;
  uint64_t least = 0;
  for (const Claim& claim : claims) {
    parts.push_back({claim.use, claim.name, claim.least, claim.least});
    least += claim.least;
  }
  if (least > settings.memory.limit) return too_small(settings, counts, claims);
  share_out(settings.memory.limit - least, claims, parts);
  return MemoryPlan(std::move(parts));
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.1f" : "%.0f", value);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number + " " + std::string(kUnits[unit]);
}

}  // namespace bloomring
