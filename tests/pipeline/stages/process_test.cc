#include "pipeline/stages/process.h"

#include <catch2/catch.hpp>

#include "base/config/listen_address.h"
#include "pipeline/kafka/consumer/group_metrics.h"
#include "pipeline/settings/keys/load_settings.h"
#include "pipeline/stages/topology.h"
#include "pipeline/status/status_json.h"
#include "pipeline/topics/kafka_rights.h"
#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/pipeline/stages/counting_stage.h"
#include "tests/support/folder.h"
#include "tests/support/http_get.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;
using kafka::testing::must;

constexpr int32_t kPartitions = 4;

// Settings of a process on this broker, from flags as a person would type them.
Settings settings_on(const kafka::EmbeddedBroker& broker, const std::string& stages, Topology rows) {
  ConfigSources sources;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"kafka.bootstrap", broker.settings().bootstrap},
                                                                     {"stages", stages},
                                                                     {"topics.partitions", "4"},
                                                                     {"admin.listen", "127.0.0.1:0"}})
    sources.flags.push_back({key, value, "--" + key});
  LoadedSettings loaded = must(load_settings(sources, rows));
  loaded.settings.kafka.properties = broker.settings().properties;
  return loaded.settings;
}

double number_of(const Process& process, const std::string& stage, const std::string& name) {
  for (const StageStatus& status : process.status()) {
    if (status.stage == stage && status.numbers.contains(name)) return status.numbers.at(name);
  }
  return 0;
}

// A stage that does nothing, and asks the admin port for /status while it is destroyed.
class EndingStage final : public Stage {
 public:
  static inline uint16_t admin_port = 0;
  static inline test::HttpAnswer answer;

  ~EndingStage() override { answer = test::http_get(admin_port, "/status"); }
  static StageRow row() {
    return {.name = "ending",
            .purpose = "ends",
            .reads = {TopicRole::kUserEvents},
            .writes = {},
            .claim = [](const Settings&, const PartitionCounts&, MemoryClaims&) {},
            .make = [](const StageContext&) -> std::unique_ptr<Stage> { return std::make_unique<EndingStage>(); }};
  }
  Status start() override { return {}; }
  void stop(StopMode) override {}
  StageStatus status() const override { return {.stage = "ending"}; }
};

}  // namespace

TEST_CASE("process: /status answers while its stages are destroyed, and asks none of them") {
  const auto broker = broker_with({{"plays", 1}, {"user-events", kPartitions}, {"user-batches", kPartitions},
                                   {"plays-dead", 1}});
  std::vector<StageRow> rows(topology().begin(), topology().end());
  rows.push_back(EndingStage::row());
  const SystemClock clock;
  {
    Process process(settings_on(*broker, "ending", rows), clock);
    must(process.start());
    EndingStage::admin_port = parse_listen_address(process.admin_address()).value().port;
    CHECK_THAT(test::http_get(EndingStage::admin_port, "/status").body, Catch::Contains(R"("stage":"ending")"));
  }
  CHECK(EndingStage::answer.status == 200);
  CHECK(EndingStage::answer.body == "{\"stages\":[]}\n");
}

TEST_CASE("topology: a fifth stage is a file pair and a row, and runs in a process with the others") {
  const auto broker = broker_with({{"plays", 1}, {"user-events", kPartitions}, {"user-batches", kPartitions},
                                   {"plays-dead", 1}});
  std::vector<StageRow> rows(topology().begin(), topology().end());
  rows.push_back(testing::CountingStage::row());
  const SystemClock clock;
  const Settings settings = settings_on(*broker, "counting,ingest", rows);
  CHECK(must(plan_memory(settings)).of(MemoryUse::kOther) > 0);
  const KafkaRight group{KafkaResource::kGroup, "bloomring-counting", {"Read"}};
  CHECK(std::ranges::count(rights_of(rows.back(), settings), group) == 1);
  Process process(settings, clock);
  must(process.start());
  REQUIRE(eventually([&] { return process.ready(); }));
  const auto producer = must(kafka::Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  for (int user = 0; user < 40; ++user) {
    OutRecord play = kafka::testing::record("plays", 0, R"({"user":"u)" + std::to_string(user) +
                                                            R"(","item":"v","time":)" +
                                                            std::to_string(clock.now_ms()) + "}");
    must(sink->send(play, static_cast<uint64_t>(user)));
  }
  CHECK(eventually([&] { return number_of(process, "counting", "records") >= kPartitions; }));
  REQUIRE(eventually([&] { return !process.status().front().partitions.empty(); }));  // Reported four times a second.
  const std::vector<StageStatus> status = process.status();
  REQUIRE(status.size() == 2);
  CHECK(status[0].stage == "ingest");
  CHECK(status[1].stage == "counting");
  CHECK_THAT(to_json(status), Catch::Contains(R"({"stage":"ingest","partitions":[{"topic":"plays","partition":0,)"));
  process.stop();
}

TEST_CASE("topology: a stage has the name of its row alone, in its status and its metrics") {
  const auto broker = broker_with({{"plays", 1}, {"user-events", kPartitions}, {"user-batches", kPartitions},
                                   {"plays-dead", 1}});
  std::vector<StageRow> rows(topology().begin(), topology().end());
  for (StageRow& row : rows) {
    if (row.name == "ingest") row.name = "intake";
    if (row.name == "window") row.name = "staging";
    if (row.name == "serve") row.name = "answers";
  }
  const testing::Folder folder;
  Settings settings = settings_on(*broker, "intake,staging,merge,answers", rows);
  settings.state.path = folder / "state";
  settings.store.path = folder / "store";
  settings.serve.listen = "127.0.0.1:0";
  settings.serve.drain_seconds = 0;
  const SystemClock clock;
  Process process(settings, clock);
  must(process.start());
  REQUIRE(eventually([&] { return process.ready(); }));
  std::vector<std::string> names;
  for (const StageStatus& status : process.status()) names.push_back(status.stage);
  CHECK(names == std::vector<std::string>{"intake", "staging", "merge", "answers"});
  for (const char* stage : {"intake", "staging", "merge"})
    CHECK(process.metrics().value(metric::kRebalances, {stage, "assign"}) > 0);
  process.stop();
}

}  // namespace bloomring
