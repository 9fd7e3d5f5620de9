#include "cli/check/check_plays.h"

#include <algorithm>

#include "base/clock.h"
#include "pipeline/settings/client_settings.h"

namespace bloomring::cli {
namespace {

constexpr size_t kPlaysReadMax = 100;  // Of each topic, its newest.
constexpr int64_t kReadBoundMs = 10'000;

}  // namespace

void check_plays(kafka::Admin& admin, const Settings& settings, CheckReport& report) {
  const auto topics = admin.describe(settings.topics.plays());
  if (!report.succeeds(topics.status())) return;
  const SystemClock clock;
  kafka::ClientSettings kafka = client_settings(settings);
  kafka.queue_memory_bytes = size_t{32} << 20;
  std::string errors;
  for (const kafka::TopicDescription& topic : *topics) {
    if (!topic.exists) continue;
    const auto plays = newest_plays(kafka, topic.name, static_cast<uint32_t>(topic.partitions), kPlaysReadMax,
                                    kReadBoundMs, clock);
    if (!report.succeeds(plays.status().with_context("topic " + topic.name))) continue;
    const PlaysFinding finding =
        judge_plays(topic.name, *plays, settings.events, settings.ingest.refused_share_max, clock.now_ms());
    report.plays.push_back(finding.read);
    report.warnings.insert(report.warnings.end(), finding.warnings.begin(), finding.warnings.end());
    for (const std::string& error : finding.errors) errors += (errors.empty() ? "" : "\n") + error;
  }
  if (!report.succeeds(errors.empty() ? Status() : invalid(errors))) return;
  const bool all_read = report.plays.size() == topics->size() &&
                        std::ranges::all_of(report.plays, [](const PlaysRead& plays) { return plays.read > 0; });
  if (all_read) report.checked.emplace_back("plays");
}

}  // namespace bloomring::cli
