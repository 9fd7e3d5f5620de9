#include "pipeline/plan/plan.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "base/hash.h"
#include "filter/filter.h"
#include "filter/stored_bytes.h"
#include "load/load_model.h"
#include "pipeline/plan/plan_store.h"
#include "pipeline/plan/plan_traffic.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/stages/topology.h"
#include "schemas/store_key.h"

using namespace bloomring;

namespace {

PlanInput site() {
  PlanInput input;
  input.settings.stages = all_stages(topology());
  return input;
}

PlanResult plan_of(const PlanInput& input) {
  auto plan = make_plan(input);
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  return std::move(*plan);
}

std::string refusal_of(const PlanInput& input) {
  const auto plan = make_plan(input);
  REQUIRE(plan.code() == Code::kInvalid);
  return plan.status().message();
}

PlanRange figure(const PlanResult& plan, std::string_view name) { return plan.row(name).figure; }

// The chain of bench/chain_bench.py: its hours of event time are slots.
PlanInput chain_bench() {
  PlanInput input = site();
  input.users = 40'000;
  input.plays_per_day = 4e6;
  input.id_bytes = 6;
  input.settings.topics.partitions = 10;
  return input;
}

}  // namespace

TEST_CASE("plan: every row has a name of its own, a range that ascends, and an origin; rows of a group are together") {
  for (const bool on_servers : {false, true}) {
    PlanInput input = site();
    input.on_servers = on_servers;
    input.replicas = 2;
    const PlanResult plan = plan_of(input);
    std::set<std::string> names;
    std::vector<std::string_view> groups;
    for (const PlanRow& row : plan.rows) {
      INFO(row.name);
      CHECK(names.insert(row.name).second);
      CHECK(std::isfinite(row.figure.high));
      CHECK(row.figure.low >= 0);
      CHECK(row.figure.low <= row.figure.mid);
      CHECK(row.figure.mid <= row.figure.high);
      CHECK(!row.from.empty());
      if (groups.empty() || groups.back() != row.group) groups.push_back(row.group);
    }
    CHECK(std::set<std::string_view>(groups.begin(), groups.end()).size() == groups.size());
  }
}

// bench/RESULTS.md, "Ingest and whole chain": 4.6 bytes a play handed to the filter store, 11.2 into user-batches.
TEST_CASE("plan: bytes a play of the chain benchmark are those that were measured, within 15 %") {
  const PlanInput input = chain_bench();
  const PlanResult plan = plan_of(input);
  CHECK(figure(plan, "handed to the store, bytes a play").mid == Approx(4.6).epsilon(0.15));
  CHECK(figure(plan, "user-batches, bytes a play").mid == Approx(11.2).epsilon(0.15));
}

// bench/RESULTS.md, "Filter store and window store": batches of 4 plays hand 10.2 bytes a play to the store.
TEST_CASE("plan: an update of four plays has the bytes that were measured") {
  PlanInput input = site();
  input.id_bytes = 10;
  const double bytes = filter_key_bytes(input) + static_cast<double>(filter::operand_bytes(4, {}));
  CHECK(bytes / 4 == Approx(10.2).epsilon(0.05));
}

// bench/RESULTS.md, "Ingest and whole chain": 4.45 to 4.92 us a play at 83,000 plays a second, 2.97 at full speed.
TEST_CASE("plan: the CPU of the chain is that of the benchmark at its pace") {
  PlanInput input = chain_bench();
  input.peak = 1;
  input.plays_per_day = 83'000.0 * 86'400;
  input.users = 5e6;
  const PlanRange cores = figure(plan_of(input), "ingest, window and merge, peak");
  CHECK(cores.low * 1e6 / 83'000 == Approx(2.97));
  CHECK(cores.mid * 1e6 / 83'000 >= 4.45);
  CHECK(cores.high * 1e6 / 83'000 == Approx(4.92));
  // The parts that were measured apart are parts of it.
  const double ingest = figure(plan_of(input), "of it ingest").mid;
  CHECK(ingest < cores.mid);
}

// Shards are independent samples of the users: the shards of a twentieth of a small site are filled play by play, by
// the library, and their bytes are compared with the plan's.
TEST_CASE("plan: filters of sampled shards, made item by item, have the bytes that the plan says") {
  constexpr uint32_t kUsers = 20'000, kShardsSampled = kShardCount / 20;
  constexpr double kMean = 600;
  PlanInput input = site();
  input.users = kUsers;
  input.plays_per_day = kUsers * kMean / (period_seconds(PeriodUnit::kMonth) / 86'400);
  input.repeats = 0;
  const filter::Policy policy = policy_of(input.settings);
  LoadRandom random(7);
  double open = 0, folded = 0, planned_open = 0, planned_folded = 0, users = 0, items = 0;
  for (uint32_t number = 0; number < kUsers; ++number) {
    const double plays = kMean * std::exp(0.82 * random.normal() - 0.82 * 0.82 / 2);
    const std::string user(UserKey("", "u" + std::to_string(number)).bytes());
    if (shard_of(user).value >= kShardsSampled) continue;
    const auto count = static_cast<uint64_t>(std::max(1.0, std::round(plays)));
    const std::string key = filter_key(user, PeriodUnit::kMonth, PeriodIndex(683));
    std::vector<ItemHash> played;
    for (uint64_t i = 0; i < count; ++i) played.emplace_back(random.bits());
    const std::string operand = filter::make(played, user, key, policy);
    const std::string_view operands[] = {operand};
    const std::string value = filter::unite(operands, key, policy, false).value();
    const std::string_view values[] = {value};
    open += static_cast<double>(value.size());
    folded += static_cast<double>(filter::unite(values, key, policy, true).value().size());
    planned_open += static_cast<double>(filter::stored_bytes(count, policy, false));
    planned_folded += static_cast<double>(filter::stored_bytes(count, policy, true));
    users += 1;
    items += static_cast<double>(count);
  }
  REQUIRE(users > 800);
  // For the users that were drawn: what coincides by chance alone.
  CHECK(planned_open == Approx(open).epsilon(0.001));
  CHECK(planned_folded == Approx(folded).epsilon(0.001));
  // For the distribution: a thousand users with a coefficient of variation of 1 have a standard error of 3 %.
  const PlanResult plan = plan_of(input);
  CHECK(figure(plan, "bytes of a filter, open period").mid == Approx(open / users).epsilon(0.09));
  CHECK(figure(plan, "bytes of a filter, folded").mid == Approx(folded / users).epsilon(0.09));
  // Bits an item depend on the draw much less.
  CHECK(figure(plan, "bits an item, open period").mid == Approx(open * 8 / items).epsilon(0.02));
}

TEST_CASE("plan: what a site costs grows with its users, and not faster") {
  for (const bool on_servers : {false, true}) {
    PlanInput input = site();
    input.on_servers = on_servers;
    input.machine = {.cores = 64, .memory_bytes = 4e12, .disk_bytes = 1e15};
    std::vector<PlanResult> plans;
    for (const double users : {1e6, 1e7, 1e8}) {
      input.users = users;
      plans.push_back(plan_of(input));
    }
    for (const std::string_view name : {"users who play in the fullest slot", "our topics on the disks of the brokers",
                                        "ingest, window and merge, peak", "calls, peak", "merge of the fullest slot"}) {
      INFO(name);
      for (size_t i = 1; i < plans.size(); ++i) {
        const double ratio = figure(plans[i], name).mid / figure(plans[i - 1], name).mid;
        CHECK(ratio <= 10.001);
        CHECK(ratio >= 5);
      }
    }
    CHECK(figure(plans[2], "bytes of a filter, open period") == figure(plans[0], "bytes of a filter, open period"));
  }
}

TEST_CASE("plan: longer ids, more months, replicas and partitions, and larger machines change what they should") {
  PlanInput base = site();
  base.on_servers = true;
  const PlanResult plan = plan_of(base);
  const auto changed = [&](const std::function<void(PlanInput&)>& change) {
    PlanInput input = base;
    change(input);
    return plan_of(input);
  };
  const PlanResult ids = changed([](PlanInput& input) { input.id_bytes = 36; });
  CHECK(figure(ids, "user-events, bytes a play with its serves").mid >
        figure(plan, "user-events, bytes a play with its serves").mid + 26);
  CHECK(figure(ids, "keys and values, one copy").mid - figure(plan, "keys and values, one copy").mid ==
        Approx(26 * 7 * base.users).epsilon(0.005));
  const PlanResult months = changed([](PlanInput& input) { input.settings.filter.retention_periods = 13; });
  CHECK(figure(months, "keys and values, one copy").mid ==
        Approx(2 * figure(plan, "keys and values, one copy").mid).epsilon(1e-9));
  const PlanResult replicas = changed([](PlanInput& input) { input.replicas = 2; });
  CHECK(figure(replicas, "replicas that read the log, peak").mid ==
        Approx(2 * figure(plan, "replicas that read the log, peak").mid));
  CHECK(figure(replicas, "serve").mid > figure(plan, "serve").mid);
  const PlanResult partitions = changed([](PlanInput& input) { input.settings.topics.partitions = 100; });
  CHECK(figure(partitions, "events a second of a partition, peak").mid ==
        Approx(figure(plan, "events a second of a partition, peak").mid / 2));
  const PlanResult machines = changed([](PlanInput& input) { input.machine.memory_bytes *= 2; });
  CHECK(figure(machines, "servers of the filter store").mid ==
        std::ceil(figure(plan, "memory of the servers, all copies").mid / (0.8 * 256.0 * (1 << 30))));
  CHECK(figure(machines, "bloomring, with spares").mid < figure(plan, "bloomring, with spares").mid);
  const PlanResult exact = changed([](PlanInput& input) { input.serves_per_play = 0; });
  CHECK(figure(exact, "calls, peak").mid < figure(plan, "calls, peak").mid);
}

TEST_CASE("plan: a serve process gets the least memory.limit whose own plan holds its recent plays and served items") {
  PlanInput input = site();
  input.on_servers = true;
  const PlanResult plan = plan_of(input);
  const auto limit = static_cast<uint64_t>(figure(plan, "memory.limit of each serve process").mid);
  const auto processes = static_cast<uint32_t>(figure(plan, "serve").mid);
  Settings settings = input.settings;
  settings.stages = stages_named(topology(), {"serve"});
  settings.serve.replica_count = processes;
  const double slot_plays = figure(plan, "plays in the fullest slot").mid;
  const double share = std::ceil(50.0 / processes) / 50;
  const double need = slot_plays * 7 * kRecentPlayBytes.value.mid * share;
  settings.memory.limit = limit;
  CHECK(static_cast<double>(plan_memory(settings).value().of(MemoryUse::kRecentPlays)) >= need);
  settings.memory.limit = limit - kMiB;
  const MemoryPlan less = plan_memory(settings).value();
  const double slots_of_age = settings.served.max_age_seconds / 3600.0;
  const double users = figure(plan, "users who play in the fullest slot").mid * slots_of_age;
  const double items = std::min(100.0, slot_plays * slots_of_age / users);
  const double served = users * (kServedUserBytes.value.mid + items * kServedItemBytes.value.mid) * share;
  CHECK((static_cast<double>(less.of(MemoryUse::kRecentPlays)) < need ||
         static_cast<double>(less.of(MemoryUse::kServedItems)) < served));
}

TEST_CASE("plan: machines are counted, not claimed: exact ids need as many as their bytes say") {
  PlanInput input = site();
  input.on_servers = true;
  input.users = 1e6;
  const PlanResult plan = plan_of(input);
  // A million users with 10,000 plays in 90 days, 5 % of them repeats, four months, two copies.
  const double entries = 1e6 * 10'000 / 90 * 365.25 / 12 * 0.95 * 4;
  CHECK(figure(plan, "exact ids in sorted sets, entries of the periods read").mid == Approx(entries).epsilon(0.001));
  const double room = 0.8 * input.machine.memory_bytes;
  CHECK(figure(plan, "their machines, with spares").low == std::ceil(entries * 2 * 110.1 / room) + 1);
  const PlanRange all = figure(plan, "all");
  CHECK(all.mid == figure(plan, "bloomring, with spares").mid + figure(plan, "servers of the filter store").mid +
                       figure(plan, "brokers").mid);
  const PlanRange times = figure(plan, "times fewer machines here, brokers counted");
  CHECK(times.low == figure(plan, "their machines, with spares").low / all.high);
}

TEST_CASE("plan: an embedded store that outgrows its machine is a finding that says by how much, and what to do") {
  PlanInput input = site();
  input.users = 1e6;
  CHECK(plan_of(input).findings.empty());
  input.users = 50e6;
  input.machine = {.cores = 2, .memory_bytes = 16.0 * (1 << 30), .disk_bytes = 1e11};
  const std::vector<std::string> findings = plan_of(input).findings;
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].find(" cores and has 2 (--machine-cores); take a larger machine or --store redis") !=
        std::string::npos);
  CHECK(findings[1].find("of memory and has 16 GiB (--machine-memory); take") != std::string::npos);
  CHECK(findings[2].find("and has 93 GiB (--machine-disk); take") != std::string::npos);
  input.on_servers = true;
  input.settings.topics.retention_hours = 8;
  const std::vector<std::string> short_log = plan_of(input).findings;
  REQUIRE(!short_log.empty());
  CHECK(short_log[0] == "topics.retention_hours is 8, shorter than the ring needs: 9 slots");
}

TEST_CASE("plan: input that is out of range is refused with its flag, the value and the range") {
  const auto refused = [](const std::function<void(PlanInput&)>& change) {
    PlanInput input = site();
    change(input);
    return refusal_of(input);
  };
  CHECK(refused([](PlanInput& input) { input.users = 0; }) == "--users: 0 must be from 1 to 100000000000, as 50000000");
  CHECK(refused([](PlanInput& input) { input.users = std::nan(""); }).starts_with("--users: nan must be"));
  CHECK(refused([](PlanInput& input) { input.plays_per_day = -5; }).starts_with("--plays-per-day: -5 must be from 1"));
  CHECK(refused([](PlanInput& input) { input.id_bytes = 129; }) == "--id-bytes: 129 must be from 1 to 128, as 10");
  CHECK(refused([](PlanInput& input) { input.replicas = 0; }) == "--replicas: 0 must be from 1 to 100, as 2");
  CHECK(refused([](PlanInput& input) { input.repeats = 1; }) == "--repeats: 1 must be from 0 to 0.99, as 0.05");
  CHECK(refused([](PlanInput& input) { input.peak = 0.5; }) == "--peak: 0.5 must be from 1 to 24, as 1.65");
  CHECK(refused([](PlanInput& input) { input.core_share = 0; }) == "--core-share: 0 must be from 0.05 to 1, as 0.6");
  CHECK(refused([](PlanInput& input) { input.candidates = 20'001; }) ==
        "--candidates: 20001 must be from 1 to 20000, as 5000");
  CHECK(refused([](PlanInput& input) { input.plays_per_day = 1000; })
            .starts_with("--plays-per-day: 1000 plays of 50000000 users are 0.00060875 plays of a user in a period"));
}

TEST_CASE("plan: quantiles set the plays of a day where nothing else does") {
  PlanInput input = site();
  input.users = 1e6;
  input.shape = PlaysShape::parse("50=1200,90=6000,99=30000,100=200000").value();
  const double plays = figure(plan_of(input), "plays of a user in a period, mean").mid;
  CHECK(plays == Approx(input.shape.mean()));
  input.plays_per_day = 1e6;
  CHECK(figure(plan_of(input), "plays of a user in a period, mean").mid == Approx(30.4375));
}

TEST_CASE("plan: the smallest site has a plan, and so has the largest") {
  for (const bool on_servers : {false, true}) {
    PlanInput input = site();
    input.on_servers = on_servers;
    input.users = 1;
    CHECK(plan_of(input).findings.empty());
    input.users = 1e9;
    const PlanResult plan = plan_of(input);
    CHECK(figure(plan, "plays a second, peak").mid > 1e6);
    CHECK(plan.findings.empty() == false);
  }
}
