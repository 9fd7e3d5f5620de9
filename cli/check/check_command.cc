#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "cli/check/check_plays.h"
#include "cli/check/check_report.h"
#include "cli/check/check_rights.h"
#include "cli/check/check_stores.h"
#include "cli/check/port_holder.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/settings/start_checks.h"
#include "pipeline/topics/topic_check.h"

namespace bloomring::cli {
namespace {

constexpr const char* kBrokers = "brokers";  // The part of the check that asks them.

Status errors_of(const std::vector<TopicFinding>& topics) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  for (const TopicFinding& topic : topics) {
    if (!topic.missing.empty()) add(topic.missing);
    for (const std::string& error : topic.errors) add("topic " + topic.wanted.name + ": " + error);
  }
  return text.empty() ? Status() : invalid(text);
}

void plan_for_topics(kafka::Admin& admin, const Settings& settings, CheckReport& report) {
  auto memory = plan_memory(settings, count_plays_partitions(admin, settings));
  if (!report.succeeds(memory.ok() ? Status() : invalid("memory.limit " + memory.status().message()))) return;
  report.memory = std::move(*memory);
}

void check_brokers(const Settings& settings, const std::string& users, CheckReport& report) {
  const auto admin = kafka::Admin::create(client_settings(settings));
  if (!report.succeeds(admin.status())) return;
  const auto topics = check_topics(**admin, topics_of(settings), settings);
  // A missing right is why topics cannot be described.
  if (topics.code() != Code::kRetry) check_rights(**admin, settings, users, report);
  if (!report.passes(kBrokers, topics.status().with_context("kafka.bootstrap is " + settings.kafka.bootstrap))) return;
  for (const TopicFinding& topic : *topics) {
    for (const std::string& warning : topic.warnings)
      report.warnings.push_back("topic " + topic.wanted.name + ": " + warning);
  }
  report.passes("topics", errors_of(*topics));
  plan_for_topics(**admin, settings, report);
  check_plays(**admin, settings, report);
}

}  // namespace

int check_command(const CheckArgs& args) {
  log_start(LogLevel::kError, LogFormat::kText);  // Errors are findings.
  const Result<LoadedSettings> loaded = load_all_settings(args.config, SettingsUse::kRunStages);
  if (args.print) {
    if (loaded.ok()) print(loaded->effective_yaml);
    return finish_output(report(loaded.status()));
  }
  CheckReport found;
  found.file = args.config.path;
  if (!found.succeeds(loaded.status())) return print(found, args.output);
  const Settings& settings = loaded->settings;
  const bool has_brokers = found.passes("configuration", check_runnable(settings));
  found.warnings = loaded->warnings;
  found.sources = loaded->sources;
  if (auto memory = plan_memory(settings); has_brokers && memory.ok()) found.memory = std::move(*memory);
  found.takes("access", check_access(settings));
  check_writes(settings, found);
  found.takes("certificates", check_certificates(settings, SystemClock().now_ms()));
  const bool can_ask = has_brokers && found.passes("kafka properties", kafka::check(client_settings(settings)));
  if (!args.offline) {
    if (can_ask) check_brokers(settings, args.user, found);
    check_store(settings, found);
    check_state(settings, found);
    found.takes("folders", check_folders(settings));
    found.takes("privacy", check_privacy(settings));
    const bool brokers_answer = std::ranges::find(found.checked, kBrokers) != found.checked.end();
    found.takes("ports", check_ports(settings, own_holder(settings, brokers_answer)));
  }
  return print(found, args.output);
}

}  // namespace bloomring::cli
