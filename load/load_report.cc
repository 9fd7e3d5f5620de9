// Formats the figures of a load.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "load/load_driver.h"

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerMs = 1e6;

double ms_at(const LoadCalls& calls, double part) {
  return static_cast<double>(calls.latency_ns.quantile(part)) / kNsPerMs;
}
double max_ms(const LoadCalls& calls) { return static_cast<double>(calls.latency_ns.max()) / kNsPerMs; }

double part_of(uint64_t some, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
}

Json calls_json(const LoadCalls& calls) {
  Json json = {{"ok", calls.ok()}};
  if (calls.ok() > 0) {
    json["p50_ms"] = ms_at(calls, 0.5);
    json["p99_ms"] = ms_at(calls, 0.99);
    json["p999_ms"] = ms_at(calls, 0.999);
    json["max_ms"] = max_ms(calls);
  }
  json["errors"] = Json::object();
  for (const auto& [code, count] : calls.errors) json["errors"][code] = count;
  return json;
}

std::string calls_text(const char* name, const LoadCalls& calls) {
  std::string text = fmt::format("{:<11} {} answered", name, calls.ok());
  if (calls.ok() > 0) {
    text += fmt::format("; p50 {:.2f} ms, p99 {:.2f} ms, p99.9 {:.2f} ms, max {:.2f} ms", ms_at(calls, 0.5),
                        ms_at(calls, 0.99), ms_at(calls, 0.999), max_ms(calls));
  }
  for (const auto& [code, count] : calls.errors) text += fmt::format("; {} {}", count, code);
  return text + '\n';
}

}  // namespace

std::string to_json(const LoadOptions& options, const LoadReport& report) {
  Json json = {{"rate", options.rate}, {"seconds", report.seconds}, {"filter", calls_json(report.filter)}};
  json["filter"]["not_sent"] = report.not_sent;
  json["filter"]["incomplete"] = report.incomplete;
  if (options.served > 0 && report.served_offered) json["served"] = calls_json(report.served);
  json["candidates"] = {{"asked", report.candidates},
                        {"seen", report.seen},
                        {"played", report.played},
                        {"played_unseen", report.played_unseen},
                        {"never_played", report.never_played},
                        {"never_played_seen", report.never_played_seen}};
  json["send_delay_max_ms"] = static_cast<double>(report.send_delay_max_ns) / kNsPerMs;
  if (report.own_cpu_seconds_per_call) json["cpu_us_per_call"]["load"] = *report.own_cpu_seconds_per_call * 1e6;
  if (report.service_cpu_seconds_per_call)
    json["cpu_us_per_call"]["service"] = *report.service_cpu_seconds_per_call * 1e6;
  return json.dump() + '\n';
}

std::string to_text(const LoadOptions& options, const LoadReport& report) {
  std::string text = fmt::format("{:<11} {} calls a second for {:.0f} s, each counted from when it was due\n", "load",
                                 options.rate, report.seconds);
  text += calls_text("Filter", report.filter);
  if (options.served > 0) {
    text += report.served_offered ? calls_text("RecordServed", report.served)
                                  : std::string("RecordServed is not offered by this service\n");
  }
  text += fmt::format("{:<11} {} candidates, {:.1f} % seen; {} answers incomplete\n", "answers", report.candidates,
                      100 * part_of(report.seen, report.candidates), report.incomplete);
  text +=
      fmt::format("{:<11} {} of {} played items unseen; {:.3f} % of never played items seen\n", "complete",
                  report.played_unseen, report.played, 100 * part_of(report.never_played_seen, report.never_played));
  text += fmt::format("{:<11} {} calls not sent; at most {:.1f} ms late with a call\n", "this tool", report.not_sent,
                      static_cast<double>(report.send_delay_max_ns) / kNsPerMs);
  if (report.own_cpu_seconds_per_call) {
    text += fmt::format("{:<11} {:.0f} us of this tool", "CPU a call", *report.own_cpu_seconds_per_call * 1e6);
    if (report.service_cpu_seconds_per_call)
      text += fmt::format(", {:.0f} us of the service", *report.service_cpu_seconds_per_call * 1e6);
    text += '\n';
  }
  return text;
}

}  // namespace bloomring
