#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"
#include "pipeline/memory_plan.h"
#include "pipeline/topic_check.h"
#include "state/embedded_filter_follower.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Verdict {
  std::vector<std::string> checked;
  std::vector<std::string> warnings;
  MemoryPlan memory;
};

Json memory_json(const MemoryPlan& plan) {
  Json parts = Json::object();
  for (const MemoryPart& part : plan.parts()) parts[std::string(part.name)] = part.bytes;
  return {{"limit", plan.total()}, {"parts", parts}};
}

std::string memory_text(const MemoryPlan& plan) {
  std::string text = "memory: " + bytes_text(plan.total());
  for (const MemoryPart& part : plan.parts()) text += "\n  " + std::string(part.name) + ": " + bytes_text(part.bytes);
  return text + "\n";
}

void print_verdict(const CheckArgs& args, const Verdict& verdict) {
  if (args.output == OutputFormat::kJson) {
    Json json = {
        {"ok", true}, {"file", args.config.path}, {"checked", verdict.checked}, {"warnings", verdict.warnings}};
    json["memory"] = memory_json(verdict.memory);
    return print(json.dump() + "\n");
  }
  for (const std::string& warning : verdict.warnings) print("warning: " + warning + "\n");
  for (const std::string& part : verdict.checked) print(part + ": ok\n");
  print(memory_text(verdict.memory));
}

Status check_brokers(const Settings& settings, Verdict& verdict) {
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<kafka::Admin> admin, kafka::Admin::create(client_settings(settings)));
  BLOOMRING_TRY_ASSIGN(const std::vector<TopicFinding> findings, check_topics(*admin, topics_of(settings), settings));
  std::string errors;
  for (const TopicFinding& finding : findings) {
    for (const std::string& error : finding.errors)
      errors += (errors.empty() ? "topic " : "\ntopic ") + finding.wanted.name + " " + error;
    for (const std::string& warning : finding.warnings)
      verdict.warnings.push_back("topic " + finding.wanted.name + ": " + warning);
  }
  if (!errors.empty()) return invalid(errors);
  verdict.checked.push_back("brokers");
  verdict.checked.push_back("topics");
  return {};
}

Status check_store(const Settings& settings, Verdict& verdict) {
  if (!std::filesystem::exists(settings.store.path)) {
    verdict.warnings.push_back("store.path " + settings.store.path + " does not exist yet; the merge stage makes it");
    return {};
  }
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  EmbeddedFilterStoreConfig config;
  config.path = settings.store.path;
  config.partition_count = settings.topics.partitions;
  BLOOMRING_TRY(EmbeddedFilterFollower::follow(config, calendar, clock, memory).status());
  verdict.checked.push_back("store");
  return {};
}

}  // namespace

int check_command(const CheckArgs& args) {
  const Result<LoadedSettings> loaded = load_all_settings(args.config);
  if (!loaded.ok()) return report(loaded.status());
  if (args.print) {
    print(loaded->effective_yaml);
    return 0;
  }
  const auto memory = plan_memory(loaded->settings);
  if (!memory.ok()) return report(memory.status());
  Verdict verdict{{"configuration"}, loaded->warnings, *memory};
  if (!args.offline) {
    if (const Status brokers = check_brokers(loaded->settings, verdict); !brokers.ok()) return report(brokers);
    if (const Status store = check_store(loaded->settings, verdict); !store.ok()) return report(store);
  }
  print_verdict(args, verdict);
  return finish_output(0);
}

}  // namespace bloomring::cli
