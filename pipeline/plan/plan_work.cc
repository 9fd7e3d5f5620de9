#include "pipeline/plan/plan_work.h"

#include <algorithm>
#include <cmath>

#include "operators/filters/slot_drain.h"

namespace bloomring {

namespace {

constexpr double kUsPerS = 1e6;

// As the drain itself decides, for a slot of this many events.
double passes_of(const PlanInput& input, double events, uint64_t pass_bytes) {
  const StagedHour hour{HourIndex(1), {Offset(0), Offset(1)}, static_cast<uint64_t>(std::max(1.0, events))};
  const Drain drain{.id = 1, .slot = {}, .attempt = DrainAttempt::kFirst, .hours = {hour}};
  SlotDrainConfig config;
  config.pass_bytes_max = pass_bytes;
  return static_cast<double>(SlotDrain(drain, {}, PartitionId(0), input.settings.topics.partitions, config).passes());
}

PlanRange merge_cpu(const PlanInput& input) { return (input.on_servers ? kMergeRedis : kMergeEmbedded).value; }

}  // namespace

PlanWork plan_work(const PlanInput& input, const PlanTraffic& traffic, uint64_t drain_pass_bytes) {
  PlanWork work;
  // The chain was measured with the embedded store.
  const PlanRange merges_s = PlanRange::exactly(traffic.peak_slot.users / traffic.slot_s / kUsPerS);
  work.chain = kChainCpu.value * (traffic.peak_plays_s / kUsPerS);
  if (input.on_servers) {
    const double more = kMergeRedis.value.mid - kMergeEmbedded.value.high;
    work.chain = work.chain + merges_s * std::max(0.0, more);
  }
  const double events_s = traffic.peak_plays_s * traffic.events_of_play;
  work.replicas = kReplicaCpu.value * (events_s / kUsPerS * input.replicas);
  // Serves are recorded by a call of its own for each answer.
  const double calls = traffic.peak_calls_s / kUsPerS;
  work.calls = (kCallCpu.value + kCandidateCpu.value * input.candidates) * calls;
  if (input.serves_per_play > 0) work.calls = work.calls + kCallCpu.value * calls;

  const double slot_events = traffic.peak_slot_events();
  work.passes = passes_of(input, slot_events / input.settings.topics.partitions, drain_pass_bytes);
  const PlanRange drain = (kDrainCpu.value + kDrainPassCpu.value * work.passes) * (slot_events / kUsPerS);
  const PlanRange merge = merge_cpu(input) * (traffic.peak_slot.users / kUsPerS);
  // Ingest reads on one thread of a process; windows and merges have settings.threads.
  const ThreadSettings& threads = input.settings.threads;
  const double ingest_cores = kIngestCpu.value.mid * traffic.peak_plays_s / kUsPerS;
  const double window_cores = drain.mid / traffic.slot_s / threads.window;
  const double merge_cores = merge.mid / traffic.slot_s / threads.merge;
  const double busiest = std::max({ingest_cores, window_cores, merge_cores});
  work.pipeline_processes = static_cast<uint32_t>(std::max(1.0, std::ceil(busiest / input.core_share)));
  work.drain_s = drain / (static_cast<double>(threads.window) * work.pipeline_processes);
  work.merge_s = merge / (static_cast<double>(threads.merge) * work.pipeline_processes);
  return work;
}

void add_work_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanWork& work, PlanResult& result) {
  constexpr std::string_view kCpu = "CPU", kSlots = "slots";
  const std::string_view merge = (input.on_servers ? kMergeRedis : kMergeEmbedded).name;
  result.add(kCpu, "ingest, window and merge, peak", work.chain, "cores",
             input.on_servers ? std::vector<std::string_view>{kChainCpu.name, kMergeRedis.name}
                              : std::vector<std::string_view>{kChainCpu.name});
  result.add(kCpu, "of it ingest", kIngestCpu.value * (traffic.peak_plays_s / kUsPerS), "cores", {kIngestCpu.name});
  result.add(kCpu, "replicas that read the log, peak", work.replicas, "cores", {kReplicaCpu.name, "input"});
  result.add(kCpu, "calls, peak", work.calls, "cores", {kCallCpu.name, kCandidateCpu.name, kCallPlays.name});
  result.add(kCpu, "cores to have", work.total() / input.core_share, "cores", {"all of CPU", kCoreShare.name});

  result.add(kSlots, "plays in the fullest slot", traffic.peak_slot_plays(), "", {"input", kPeak.name});
  result.add(kSlots, "passes of a drain", work.passes, "", {"operators/filters/slot_drain.h", "memory plan"});
  result.add(kSlots, "drain of the fullest slot", work.drain_s, "s", {kDrainCpu.name, kDrainPassCpu.name});
  result.add(kSlots, "merge of the fullest slot", work.merge_s, "s", {merge, "users who play in the fullest slot"});
  const PlanRange both = work.drain_s + work.merge_s;
  if (both.mid > traffic.slot_s)
    result.findings.push_back("a slot of " + std::to_string(static_cast<int64_t>(traffic.slot_s)) +
                              " s takes longer to drain and merge: raise threads.window and threads.merge, or "
                              "memory.limit, so that drains have fewer passes");
}

}  // namespace bloomring
