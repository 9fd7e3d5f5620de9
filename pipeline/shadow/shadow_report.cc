#include "pipeline/shadow/shadow_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<const char*, double> kParts[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

constexpr ShadowResult kExplained[] = {
    ShadowResult::kExpired,  ShadowResult::kRefused, ShadowResult::kSeenLate, ShadowResult::kRemoved,
    ShadowResult::kForgotten, ShadowResult::kServed, ShadowResult::kOldLate,  ShadowResult::kNotInOld,
    ShadowResult::kCut,      ShadowResult::kFalsePositive, ShadowResult::kOldError, ShadowResult::kUnsettled};

double ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

uint64_t candidates(const ShadowCounts& counts) {
  uint64_t all = 0;
  for (const uint64_t count : counts.results) all += count;
  return all;
}

Json latency_json(const LatencyHistogram& latency_ns) {
  Json json;
  for (const auto& [name, part] : kParts) json[name] = ms(latency_ns.quantile(part));
  json["max"] = ms(latency_ns.max());
  return json;
}

Json errors_json(const ShadowErrors& errors, double rate) {
  return {{"asked", errors.asked},
          {"found", errors.found},
          {"expected", errors.expected},
          {"most", rate * static_cast<double>(errors.asked)}};
}

std::string latency_text(const char* name, const LatencyHistogram& latency_ns) {
  std::string text = fmt::format("{:<12}", name);
  for (const auto& [part_name, part] : kParts)
    text += fmt::format(" {} {:.2f} ms,", part_name, ms(latency_ns.quantile(part)));
  return text + fmt::format(" max {:.2f} ms\n", ms(latency_ns.max()));
}

std::string errors_text(const char* name, const ShadowErrors& errors, bool above) {
  return fmt::format("{:<12} {} of {} candidates of first queries, {:.1f} expected{}\n", name, errors.found,
                     errors.asked, errors.expected, above ? ": more than the rate explains" : "");
}

}  // namespace

std::string shadow_json(const ShadowEnd& end, const ShadowComparer& comparer) {
  const ShadowCounts& counts = end.counts;
  Json json = {{"seconds", end.seconds}, {"stopped", end.stopped}};
  json["queries"] = {{"compared", counts.compared},     {"refused", counts.refused},
                     {"dropped", counts.dropped},       {"unlike", counts.unlike},
                     {"failed_old", counts.failed_old}, {"failed_new", counts.failed_new},
                     {"incomplete", counts.incomplete}};
  json["candidates"] = {{"compared", candidates(counts)},
                        {"seen", counts.of(ShadowResult::kSeen)},
                        {"unseen", counts.of(ShadowResult::kUnseen)}};
  json["explained"] = Json::object();
  for (const ShadowResult result : kExplained)
    if (counts.of(result) > 0) json["explained"][shadow_result_name(result)] = counts.of(result);
  JobCounts refusals;
  comparer.refusals().append_to(refusals);
  json["refused"] = Json::object();
  for (const JobCount& refusal : refusals) json["refused"][refusal.reason] = refusal.value;
  json["unexplained"] = {{"missing", counts.of(ShadowResult::kMissing)},
                         {"false_positives_above_rate", comparer.too_many_new()},
                         {"old_errors_above_rate", comparer.too_many_old()}};
  const ShadowConfig& config = comparer.config();
  json["false_positives"] = errors_json(counts.new_errors, config.new_error_rate);
  if (config.old_filters) json["old_errors"] = errors_json(counts.old_errors, config.old_error_rate);
  json["latency_ms"] = {{"old", latency_json(comparer.latency().old_ns)},
                        {"new", latency_json(comparer.latency().new_ns)}};
  return json.dump() + '\n';
}

std::string shadow_text(const ShadowEnd& end, const ShadowComparer& comparer) {
  const ShadowCounts& counts = end.counts;
  std::string text = fmt::format("{:<12} {} compared in {:.1f} s{}\n", "queries", counts.compared, end.seconds,
                                 end.stopped ? ", then stopped" : "");
  const uint64_t failed = counts.failed_old + counts.failed_new + counts.incomplete;
  if (failed + counts.refused + counts.dropped + counts.unlike > 0) {
    text += fmt::format(
        "{:<12} {} unanswered by the old store, {} by the service, {} incomplete, {} are no query, {} dropped, {} of "
        "all scenes\n",
        "not compared", counts.failed_old, counts.failed_new, counts.incomplete, counts.refused, counts.dropped,
        counts.unlike);
  }
  text += fmt::format("{:<12} {}; both say seen: {}, both say unseen: {}\n", "candidates", candidates(counts),
                      counts.of(ShadowResult::kSeen), counts.of(ShadowResult::kUnseen));
  for (const ShadowResult result : kExplained) {
    if (counts.of(result) > 0)
      text += fmt::format("{:<12} {} {}\n", "explained", counts.of(result), shadow_result_name(result));
  }
  text += errors_text("filters", counts.new_errors, comparer.too_many_new());
  if (comparer.config().old_filters) text += errors_text("old filters", counts.old_errors, comparer.too_many_old());
  text += latency_text("latency old", comparer.latency().old_ns);
  text += latency_text("latency new", comparer.latency().new_ns);
  text += fmt::format("{:<12} {}\n", "missing", counts.of(ShadowResult::kMissing));
  return text;
}

}  // namespace bloomring
