#include "pipeline/plan/plan_fleet.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "pipeline/settings/memory_plan.h"
#include "pipeline/topics/retention_need.h"

namespace bloomring {

namespace {

constexpr uint64_t kLimitMost = uint64_t{1} << 46;  // 64 TiB: beyond any machine.

// The rows of the stages that take calls, or of all others.
StageRows stages_that(const StageRows& stages, bool take_calls) {
  StageRows rows;
  for (const StageRow* row : stages) {
    if (row->takes_calls == take_calls) rows.push_back(row);
  }
  return rows;
}

// The least limit, in whole MiB from `least` on, whose plan is enough; kLimitMost where none is.
uint64_t least_limit(Settings settings, uint64_t least, const std::function<bool(const MemoryPlan&)>& enough) {
  const auto holds = [&](uint64_t limit) {
    settings.memory.limit = limit;
    const auto plan = plan_memory(settings);
    return plan.ok() && enough(*plan);
  };
  uint64_t low = least / kMiB, high = kLimitMost / kMiB;  // The answer is in [low, high].
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (holds(middle * kMiB))
      high = middle;
    else
      low = middle + 1;
  }
  return low * kMiB;
}

// The memory that the recent plays and served items of all partitions need, one copy.
struct ServeNeed {
  double recents = 0;
  double served = 0;
};

// Recent plays: a lap and the filling slot. Served items: of the users who were active within their greatest age.
ServeNeed serve_need(const PlanInput& input, const PlanTraffic& traffic, double play_bytes, double item_bytes,
                     double user_bytes) {
  const double slots = input.settings.ring.slots + 1;
  ServeNeed need{.recents = traffic.peak_slot_plays() * slots * play_bytes};
  if (input.serves_per_play == 0) return need;
  const double slots_of_age = std::max(1.0, input.settings.served.max_age_seconds / traffic.slot_s);
  const double users = std::min(input.users, traffic.peak_slot.users * slots_of_age);
  const double serves = traffic.peak_slot_plays() * slots_of_age * input.serves_per_play;
  const double items = std::min(serves / users, static_cast<double>(input.settings.served.per_user_max));
  need.served = users * (user_bytes + items * item_bytes);
  return need;
}

// memory.limit of one of `replica_count` serve processes.
uint64_t serve_limit(const PlanInput& input, const ServeNeed& need, uint32_t replica_count) {
  Settings settings = input.settings;
  settings.stages = stages_that(settings.stages, true);
  settings.serve.replica_count = replica_count;
  settings.serve.replication_factor = std::min(input.replicas, replica_count);
  const double partitions = settings.topics.partitions;
  const double kept = std::ceil(partitions * settings.serve.replication_factor / replica_count);
  const double share = kept / partitions;
  return least_limit(settings, 64 * kMiB, [&](const MemoryPlan& plan) {
    return static_cast<double>(plan.of(MemoryUse::kRecentPlays)) >= need.recents * share &&
           static_cast<double>(plan.of(MemoryUse::kServedItems)) >= need.served * share;
  });
}

// One end of the ranges: what one set of constants asks for.
struct Demand {
  double cores = 0;  // To have.
  ServeNeed serve;
  double state_bytes = 0;  // Of window folders.
  double store_bytes = 0;  // Embedded: on disk.
  double server_bytes = 0;
  double broker_bytes = 0;
};

struct Fleet {
  double machines = 1;  // Of bloomring, without spares.
  double serve_limit = 0;
  double servers = 0;
  double brokers = 0;
};

double whole(double value) { return std::max(1.0, std::ceil(value - 1e-9)); }

Fleet fleet_of(const PlanInput& input, const Demand& demand, uint64_t pipeline_limit) {
  const double memory = input.machine.memory_bytes * kRoomShare.value.mid;
  const double disk = input.machine.disk_bytes * kRoomShare.value.mid;
  Fleet fleet;
  fleet.brokers = std::max<double>(input.settings.topics.replication, whole(demand.broker_bytes / disk));
  if (!input.on_servers) {
    fleet.serve_limit = static_cast<double>(serve_limit(input, demand.serve, input.replicas));
    return fleet;
  }
  fleet.servers = std::max<double>(input.server_copies, whole(demand.server_bytes / memory));
  const uint32_t most = input.settings.topics.partitions * input.replicas;
  const double least = std::max(whole(demand.cores / input.machine.cores), whole(demand.state_bytes / disk));
  uint32_t machines = std::max(input.replicas, static_cast<uint32_t>(std::min<double>(least, most)));
  for (; machines < most; ++machines) {
    const auto limit = static_cast<double>(serve_limit(input, demand.serve, machines));
    if (limit + static_cast<double>(pipeline_limit) <= memory) break;
  }
  fleet.machines = machines;
  fleet.serve_limit = static_cast<double>(serve_limit(input, demand.serve, machines));
  return fleet;
}

int64_t session_ms(const Settings& settings) {
  constexpr int64_t kDefaultMs = 30'000;  // pipeline/kafka/client.cc.
  const auto found = settings.kafka.properties.find("session.timeout.ms");
  int64_t value = kDefaultMs;
  if (found != settings.kafka.properties.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::string text_of(double value) { return std::to_string(static_cast<int64_t>(std::ceil(value))); }

// The smallest number of partitions, a divisor of the number of shards, with this many at least.
double partitions_for(double least) {
  for (uint32_t partitions = 1; partitions <= kShardCount; ++partitions) {
    if (kShardCount % partitions == 0 && partitions >= least) return partitions;
  }
  return kShardCount;
}

void find_what_does_not_fit(const PlanInput& input, const PlanWork& work, const PlanStore& store,
                            const PlanRange& state, const PlanRange& memory, PlanResult& result) {
  const MachineKind& machine = input.machine;
  const auto finding = [&](std::string text) { result.findings.push_back(std::move(text)); };
  const std::string_view all = "the embedded store keeps window, merge and serve on one machine, which ";
  const std::string out = "; take a larger machine or --store redis";
  const double cores = work.total().mid / input.core_share;
  const double disk = store.disk_bytes.mid + state.mid;
  if (cores > machine.cores)
    finding(std::string(all) + "needs " + text_of(cores) + " cores and has " + std::to_string(machine.cores) +
            " (--machine-cores)" + out);
  if (memory.mid > machine.memory_bytes * kRoomShare.value.mid)
    finding(std::string(all) + "needs " + bytes_text(static_cast<uint64_t>(memory.mid / kRoomShare.value.mid)) +
            " of memory and has " + bytes_text(static_cast<uint64_t>(machine.memory_bytes)) + " (--machine-memory)" +
            out);
  if (disk > machine.disk_bytes * kRoomShare.value.mid)
    finding(std::string(all) + "needs a disk of " + bytes_text(static_cast<uint64_t>(disk / kRoomShare.value.mid)) +
            " and has " + bytes_text(static_cast<uint64_t>(machine.disk_bytes)) + " (--machine-disk)" + out);
}

}  // namespace

Result<PipelineMemory> plan_pipeline_memory(const PlanInput& input) {
  Settings settings = input.settings;
  settings.stages = stages_that(settings.stages, false);
  settings.memory.partitions = 0;  // Any of them takes over all partitions.
  PipelineMemory memory;
  memory.limit = least_limit(settings, settings.memory.limit, [](const MemoryPlan&) { return true; });
  settings.memory.limit = memory.limit;
  BLOOMRING_TRY_ASSIGN(const MemoryPlan plan, plan_memory(settings));
  memory.drain_pass_bytes = plan.drain_pass_bytes(settings);
  return memory;
}

void add_fleet_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanStore& store, const PlanWork& work,
                    const PipelineMemory& pipeline, PlanResult& result) {
  constexpr std::string_view kProcesses = "processes", kMachines = "machines", kLost = "a lost machine",
                             kCompared = "compared";
  const Settings& settings = input.settings;
  const double slot_plays = traffic.peak_slot_plays(), slot_events = traffic.peak_slot_events();

  // Staged: the filling slot, the one that is drained, and one that is merged. At worst all that the log must keep.
  const double need_slots = static_cast<double>(retention_need_ms(settings.ring)) / settings.ring.slot_ms();
  const PlanRange state = traffic.staged_bytes * slot_plays * PlanRange{2, 3, need_slots};
  const double day_plays = plays_per_day(input);
  const PlanRange broker = (traffic.event_bytes + PlanRange::exactly(traffic.batch_bytes)) *
                           (day_plays / 24 * settings.topics.retention_hours * settings.topics.replication);

  const auto fleet_at = [&](double PlanRange::*end) {
    const ServeNeed serve = serve_need(input, traffic, kRecentPlayBytes.value.*end, kServedItemBytes.value.*end,
                                       kServedUserBytes.value.*end);
    return fleet_of(input,
                    {.cores = (work.total() / input.core_share).*end,
                     .serve = serve,
                     .state_bytes = state.*end,
                     .store_bytes = store.disk_bytes.*end,
                     .server_bytes = store.server_bytes.*end,
                     .broker_bytes = broker.*end},
                    pipeline.limit);
  };
  const Fleet fleets[] = {fleet_at(&PlanRange::low), fleet_at(&PlanRange::mid), fleet_at(&PlanRange::high)};
  const auto of = [&](double Fleet::*figure) {
    return PlanRange{fleets[0].*figure, fleets[1].*figure, fleets[2].*figure};
  };
  const PlanRange serves = input.on_servers ? of(&Fleet::machines) : PlanRange::exactly(input.replicas);
  const double pipelines = work.pipeline_processes;
  const double spares = input.on_servers ? 1 : 0;

  result.add(kProcesses, "ingest, window and merge", pipelines + spares, "",
             {kIngestCpu.name, kDrainCpu.name, "one spare with servers"});
  result.add(kProcesses, "memory.limit of each", static_cast<double>(pipeline.limit), "bytes",
             {"memory plan", "memory.limit"});
  result.add(kProcesses, "serve", serves, "", {"input", "memory of a machine"});
  result.add(kProcesses, "memory.limit of each serve process", of(&Fleet::serve_limit), "bytes",
             {"memory plan", kRecentPlayBytes.name, kServedItemBytes.name});
  const double least_partitions = std::max(pipelines * settings.threads.window, std::ceil(serves.mid / input.replicas));
  result.add(kProcesses, "partitions, at least", partitions_for(least_partitions), "", {"a process has one at least"});
  result.add(kProcesses, "state.path of the window stage, all partitions", state, "bytes",
             {"schemas/event_block.h", "pipeline/topics/retention_need.h"});

  const PlanRange spare = PlanRange::exactly(input.spare_machines);
  const PlanRange ours = of(&Fleet::machines) + spare;
  result.add(kMachines, "bloomring, with spares", ours, "machines",
             {"cores to have", "memory.limit", "on the disk", kRoomShare.name});
  if (input.on_servers)
    result.add(kMachines, "servers of the filter store", of(&Fleet::servers), "machines",
               {"memory of the servers", kRoomShare.name});
  result.add(kMachines, "brokers", of(&Fleet::brokers), "machines", {"our topics on the disks", "topics.replication"});
  const PlanRange all = ours + of(&Fleet::servers) + of(&Fleet::brokers);
  result.add(kMachines, "all", all, "machines", {"all of machines"});

  const double seconds_of_session = static_cast<double>(session_ms(settings)) / 1000;
  const PlanRange read_again = PlanRange::exactly(slot_events * settings.ring.slots / pipelines);
  result.add(kLost, "its partitions move after", seconds_of_session, "s", {"session.timeout.ms"});
  result.add(kLost, "events that a window reads again, at most", read_again, "", {"a lap", "input"});
  result.add(kLost, "time for it", read_again / (kWindowRebuild.value * settings.threads.window), "s",
             {kWindowRebuild.name});
  const PlanRange recents = PlanRange::exactly(slot_events * (settings.ring.slots + 1) * input.replicas) / serves;
  result.add(kLost, "time until a new replica answers", recents / kReplicaRebuild.value, "s",
             {kReplicaRebuild.name, "a lap and the filling slot"});
  if (!input.on_servers)
    result.add(kLost, "time to copy a backup of the store back", store.disk_bytes / kDiskReadRate.value, "s",
               {kDiskReadRate.name, "on the disk"});

  const double memory = input.machine.memory_bytes * kRoomShare.value.mid;
  const PlanRange sets = each(store.sorted_set_bytes, [&](double bytes) {
    return std::max<double>(input.server_copies, whole(bytes / memory)) + input.spare_machines;
  });
  result.add(kCompared, "exact ids in sorted sets, entries of the periods read", store.sorted_set_entries, "",
             {"filter.periods_read", kRepeats.name});
  result.add(kCompared, "their memory, all copies", store.sorted_set_bytes, "bytes", {kSortedSetEntry.name});
  result.add(kCompared, "their machines, with spares", sets, "machines", {kSortedSetEntry.name, kRoomShare.name});
  result.add(kCompared, "times fewer machines here, brokers counted", sets / all, "times", {"machines, all"});

  if (retention_need_ms(settings.ring) > int64_t{settings.topics.retention_hours} * 3'600'000)
    result.findings.push_back("topics.retention_hours is " + std::to_string(settings.topics.retention_hours) +
                              ", shorter than the ring needs: " + text_of(need_slots) + " slots");
  if (settings.topics.partitions < partitions_for(least_partitions))
    result.findings.push_back("--partitions: " + std::to_string(settings.topics.partitions) +
                              " are fewer than processes that need one each; take " +
                              text_of(partitions_for(least_partitions)));
  if (input.on_servers) {
    const Fleet& fleet = fleets[1];
    if (fleet.serve_limit + static_cast<double>(pipeline.limit) > memory)
      result.findings.push_back("a serve process takes more memory than --machine-memory has, also with one partition: "
                                "take larger machines or more partitions");
    return;
  }
  const PlanRange used =
      of(&Fleet::serve_limit) * input.replicas + PlanRange::exactly(static_cast<double>(pipeline.limit));
  find_what_does_not_fit(input, work, store, state, used, result);
}

}  // namespace bloomring
