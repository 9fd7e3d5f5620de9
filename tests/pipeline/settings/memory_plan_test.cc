#include "pipeline/settings/memory_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "pipeline/kafka/client.h"
#include "pipeline/stages/topology.h"

using namespace bloomring;

namespace {

using Names = std::vector<std::string_view>;

Settings with(uint64_t limit_mib, const Names& stages = {"ingest", "window", "merge", "serve"}) {
  Settings settings;
  settings.memory.limit = limit_mib * kMiB;
  settings.stages = stages_named(topology(), stages);
  return settings;
}

MemoryPlan plan_of(const Settings& settings) {
  auto plan = plan_memory(settings);
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  return std::move(*plan);
}

// The least limit in MiB that is accepted.
uint64_t least_mib(const Settings& settings) {
  Settings tried = settings;
  for (uint64_t mib = 64; mib < 65536; ++mib) {
    tried.memory.limit = mib * kMiB;
    if (plan_memory(tried).ok()) return mib;
  }
  return 0;
}

}  // namespace

TEST_CASE("memory plan: the parts add up to the limit, and each has at least what it needs") {
  const std::vector<Names> processes = {{"ingest", "window", "merge", "serve"}, {"ingest"}, {"window"}, {"merge"},
                                        {"serve"}, {"window", "merge"}};
  for (const auto& stages : processes) {
    for (const uint64_t mib : {1024, 2048, 3000, 16384, 1048576}) {
      const Settings settings = with(mib, stages);
      const MemoryPlan plan = plan_of(settings);
      CHECK(plan.total() == mib * kMiB);
      for (const MemoryPart& part : plan.parts()) {
        INFO(part.name);
        CHECK(part.bytes >= part.least);
        CHECK(part.bytes > 0);
      }
    }
  }
}

TEST_CASE("memory plan: a process has the parts of its stages and no others") {
  const MemoryPlan serve = plan_of(with(2048, {"serve"}));
  CHECK(serve.of(MemoryUse::kRecentPlays) > 0);
  CHECK(serve.of(MemoryUse::kStores) > 0);
  CHECK(serve.of(MemoryUse::kWindowQueue) == 0);
  CHECK(serve.of(MemoryUse::kIngestQueue) == 0);
  const MemoryPlan ingest = plan_of(with(2048, {"ingest"}));
  CHECK(ingest.of(MemoryUse::kStores) == 0);
  CHECK(ingest.of(MemoryUse::kIngestQueue) > 0);
  CHECK(ingest.of(MemoryUse::kSendQueue) > 0);
}

TEST_CASE(
    "memory plan: what is over goes where it is of use: caches and recent plays, not queues that are large enough") {
  const MemoryPlan small = plan_of(with(2048)), large = plan_of(with(65536));
  CHECK(large.of(MemoryUse::kSendQueue) == 256 * kMiB);
  CHECK(large.of(MemoryUse::kIngestQueue) == 10 * 64 * kMiB);
  CHECK(large.of(MemoryUse::kRecentPlays) > 20 * small.of(MemoryUse::kRecentPlays));
  CHECK(large.of(MemoryUse::kStores) > 20 * small.of(MemoryUse::kStores));
}

TEST_CASE("memory plan: passes of drains fit into their part together, with the records that wait") {
  for (const uint32_t threads : {1u, 4u}) {
    Settings settings = with(2048);
    settings.threads.window = threads;
    const MemoryPlan plan = plan_of(settings);
    const uint64_t pass = plan.drain_pass_bytes(settings);
    CHECK(pass >= kMiB);
    CHECK(threads * pass + settings.topics.partitions * (pass / 4) <= plan.of(MemoryUse::kDrains));
  }
}

TEST_CASE("memory plan: a limit that is too small is refused with the least that works, part by part") {
  const Settings settings = with(256);
  const auto plan = plan_memory(settings);
  REQUIRE(plan.code() == Code::kInvalid);
  const uint64_t least = least_mib(settings);
  CHECK_THAT(plan.status().message(),
             Catch::Contains("is 256 MiB; it must be at least " + std::to_string(least) + " MiB"));
  CHECK_THAT(plan.status().message(), Catch::Contains("50 partitions") && Catch::Contains("50 MiB for recent plays") &&
                                          Catch::Contains("memory.partitions"));
}

TEST_CASE("memory plan: more partitions need more, and a process that is planned for fewer needs less") {
  Settings settings = with(2048, {"window"});
  const uint64_t of_50 = least_mib(settings);
  settings.topics.partitions = 500;
  const uint64_t of_500 = least_mib(settings);
  CHECK(of_500 > of_50 + 450);
  settings.memory.partitions = 50;
  CHECK(least_mib(settings) == of_50);
}

TEST_CASE("memory plan: the queues of a topic of plays with more partitions than we would make fit into their part") {
  for (const uint64_t partitions : {3, 10, 11, 50, 1'000}) {
    const Settings settings = with(2048);
    auto plan = plan_memory(settings, partitions);
    INFO(partitions << " partitions: " << plan.status().message());
    REQUIRE(plan.ok());
    CHECK(plan->total() == 2048 * kMiB);
    kafka::ClientSettings group;
    group.queue_memory_bytes = plan->of(MemoryUse::kIngestQueue);
    group.queue_overhead = 4;
    const kafka::QueueBounds bounds = kafka::queue_bounds(group, partitions);
    const uint64_t one = (bounds.payload_kbytes * 1024 + bounds.fetch_bytes) * group.queue_overhead;
    CHECK(partitions * one <= plan->of(MemoryUse::kIngestQueue));
  }
  const Settings settings = with(1024);
  const auto refused = plan_memory(settings, 5'000);
  REQUIRE(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.status().message(), Catch::Contains("5000 of plays") && Catch::Contains("memory.partitions"));
  Settings part = settings;
  part.memory.partitions = 50;
  CHECK(plan_memory(part, 5'000).ok());
}

TEST_CASE("memory plan: two stages whose use is in no list have a part each, and not both the sum") {
  std::vector<StageRow> rows(topology().begin(), topology().end());
  const auto add = [&](std::string_view name, auto claim) {
    rows.push_back({.name = name, .purpose = "", .reads = {}, .writes = {}, .claim = claim});
  };
  add("counting", [](const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
    claims.push_back(queue_claim(MemoryUse::kOther, "counting queue", counts.pipeline, 1));
  });
  add("last-played", [](const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
    claims.push_back(queue_claim(MemoryUse::kOther, "last-played queue", counts.pipeline, 3));
  });
  Settings settings = with(4096);
  settings.stages = all_stages(rows);
  const MemoryPlan plan = plan_of(settings);
  CHECK(plan.total() == 4096 * kMiB);
  const uint64_t counting = plan.of(MemoryUse::kOther, "counting"), played = plan.of(MemoryUse::kOther, "last-played");
  CHECK(counting >= 50 * kMiB);
  CHECK(played > counting);
  CHECK(plan.of(MemoryUse::kOther) == counting + played);
  CHECK(std::ranges::count(plan.parts(), MemoryUse::kOther, &MemoryPart::use) == 2);
}

TEST_CASE("memory plan: sizes are told as people say them") {
  CHECK(bytes_text(2048 * kMiB) == "2 GiB");
  CHECK(bytes_text(3 * kMiB / 2) == "1.5 MiB");
  CHECK(bytes_text(100 * kMiB) == "100 MiB");
  CHECK(bytes_text(512) == "512 bytes");
}
