#include "pipeline/settings/memory_plan.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace bloomring {

namespace {

// The memory of a process before it has done anything, and the part of freed memory that the allocator keeps.
constexpr uint64_t kProcessBytes = 48 * kMiB;
constexpr uint64_t kSlackShare = 8;

constexpr uint64_t kSendLeast = 8 * kMiB, kSendMost = 256 * kMiB;
constexpr uint64_t kStoresLeast = 32 * kMiB;

PartitionCounts count(const Settings& settings, std::optional<uint64_t> plays_partitions) {
  const auto planned = [&](uint64_t of_all) {
    return settings.memory.partitions == 0 ? of_all : std::min<uint64_t>(of_all, settings.memory.partitions);
  };
  const uint64_t plays = plays_partitions.value_or(plays_made(settings));
  const ServeSettings& serve = settings.serve;
  const uint64_t copies = uint64_t{settings.topics.partitions} * serve.replication_factor;
  return {planned(plays), planned(settings.topics.partitions),
          (copies + serve.replica_count - 1) / serve.replica_count};
}

bool same_part(const MemoryClaim& one, const MemoryClaim& other) {
  return one.use == other.use && one.stage == other.stage;
}

// Claims of the same use and stage become one, in the order of the uses.
MemoryClaims united(MemoryClaims claims) {
  std::ranges::stable_sort(claims, {}, [](const MemoryClaim& claim) { return std::pair(claim.use, claim.stage); });
  MemoryClaims united;
  for (const MemoryClaim& claim : claims) {
    if (united.empty() || !same_part(united.back(), claim)) {
      united.push_back(claim);
      continue;
    }
    united.back().least += claim.least;
    united.back().weight = std::max(united.back().weight, claim.weight);
    united.back().most = std::max(united.back().most, claim.most);
  }
  return united;
}

MemoryClaims claims_of(const Settings& settings, const PartitionCounts& counts) {
  MemoryClaims claims;
  claims.push_back({MemoryUse::kProcess, "process and allocator", kProcessBytes + settings.memory.limit / kSlackShare});
  claims.push_back({MemoryUse::kSendQueue, "send queue", kSendLeast, 1, kSendMost});
  if (store_role(settings.stages) != StoreRole::kNone || keep_state(settings.stages))
    claims.push_back({MemoryUse::kStores, "stores", kStoresLeast, 5, kNoMost});
  for (const StageRow* row : settings.stages) {
    const size_t before = claims.size();
    if (row->claim != nullptr) row->claim(settings, counts, claims);
    for (size_t i = before; i < claims.size(); ++i) {
      if (claims[i].use != MemoryUse::kStores) claims[i].stage = row->name;  // All stores of a process share one cache.
    }
  }
  return united(std::move(claims));
}

// Shares `left` out by weight among the parts that still take something, until nothing is left or nobody takes it.
void share_out(uint64_t left, const MemoryClaims& claims, std::vector<MemoryPart>& parts) {
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
  parts.front().bytes += left;  // Remainders of the divisions, and bytes that no part of an ingest process can use.
}

Status too_small(const Settings& settings, const PartitionCounts& counts, const MemoryClaims& claims) {
  const auto [plays, pipeline, for_queries] = counts;
  uint64_t fixed = kProcessBytes;
  std::string list = bytes_text(kProcessBytes) + " and an eighth of the limit for the process and its allocator";
  for (const MemoryClaim& claim : claims) {
    if (claim.use == MemoryUse::kProcess) continue;
    fixed += claim.least;
    list += ", " + bytes_text(claim.least) + " for " + std::string(claim.name);
  }
  // limit - limit / 8 >= fixed.
  const uint64_t needed = (fixed * kSlackShare / (kSlackShare - 1) / kMiB + 1) * kMiB;
  return invalid("is " + bytes_text(settings.memory.limit) + "; it must be at least " + bytes_text(needed) +
                 " for these stages with " + std::to_string(pipeline) + " partitions (memory.partitions), " +
                 std::to_string(plays) + " of plays and " + std::to_string(for_queries) + " kept for queries: " + list +
                 ". Raise it, run fewer stages in a process, or plan for fewer partitions (memory.partitions)");
}

}  // namespace

uint64_t plays_made(const Settings& settings) {
  return uint64_t{settings.topics.plays_partitions} * settings.topics.plays().size();
}

uint64_t drains_at_once(const Settings& settings) {
  return settings.threads.window + (count(settings, std::nullopt).pipeline + 3) / 4;
}

uint64_t MemoryPlan::of(MemoryUse use) const {
  uint64_t bytes = 0;
  for (const MemoryPart& part : parts_) bytes += part.use == use ? part.bytes : 0;
  return bytes;
}

uint64_t MemoryPlan::of(MemoryUse use, std::string_view stage) const {
  for (const MemoryPart& part : parts_) {
    if (part.use == use && part.stage == stage) return part.bytes;
  }
  return 0;
}

uint64_t MemoryPlan::total() const {
  uint64_t total = 0;
  for (const MemoryPart& part : parts_) total += part.bytes;
  return total;
}

uint64_t MemoryPlan::drain_pass_bytes(const Settings& settings) const {
  return of(MemoryUse::kDrains) / drains_at_once(settings);
}

Result<MemoryPlan> plan_memory(const Settings& settings, std::optional<uint64_t> plays_partitions) {
  const PartitionCounts counts = count(settings, plays_partitions);
  const MemoryClaims claims = claims_of(settings, counts);
  std::vector<MemoryPart> parts;
  uint64_t least = 0;
  for (const MemoryClaim& claim : claims) {
    parts.push_back({claim.use, claim.name, claim.least, claim.least, claim.stage});
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
