#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics/base_metrics.h"
#include "base/metrics/process_stats.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "load/load_driver.h"
#include "load/load_questions.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/runtime/signals.h"

namespace bloomring::cli {

namespace {

std::optional<double> service_cpu_seconds(const std::string& admin) {
  if (admin.empty()) return std::nullopt;
  const auto page = get_admin_page(admin, "/metrics");
  const auto seconds = page.ok() ? metric_value(*page, metric::kProcessCpu.name) : page.status();
  if (seconds.ok()) return *seconds;
  spdlog::warn("the CPU of the service is not known: {}", seconds.status().message());
  return std::nullopt;
}

Status check_args(const LoadArgs& args) {
  BLOOMRING_TRY(check(args.tls));
  if (args.candidates_min > args.candidates_max) return invalid("--candidates-min is more than --candidates-max");
  if (args.seen_min > args.seen_max) return invalid("--seen-min is more than --seen-max");
  if (!args.admin.empty()) return get_admin_page(args.admin, "/metrics").status().with_context("--admin");
  return {};
}

void tell_too_old(const PlayedItems& played) {
  if (played.too_old() == 0) return;
  log_warning(std::to_string(played.too_old()) +
              " plays are older than the periods that a query reads (filter.periods_read) and do not count as played");
}

Result<PlayedItems> played_items(const LoadArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const PeriodIndex oldest = calendar.window(clock.now_ms()).back();
  if (!args.plays_file.empty()) {
    auto played = PlayedItems::from_file(args.plays_file, settings.events.mapping(), args.scene, clock.now_ms(),
                                         calendar, oldest);
    if (played.ok()) tell_too_old(*played);
    if (played.ok() && played->refused() > 0) {
      log_warning(args.plays_file + ": " + std::to_string(played->refused()) +
                  " records are passed over; the first: " + played->first_refusal());
    }
    return played;
  }
  BLOOMRING_TRY_ASSIGN(const LoadConfig load, load_of(args.model, clock));
  PlayedItems played = PlayedItems::generated(load, args.model.id_bytes, calendar, oldest);
  tell_too_old(played);
  return played;
}

Result<LoadReport> load(const LoadArgs& args, const LoadOptions& options) {
  BLOOMRING_TRY(check_args(args));
  const SystemClock clock;
  BLOOMRING_TRY_ASSIGN(const PlayedItems played, played_items(args, clock));
  if (played.plays() == 0) return invalid("there are no plays to ask about");
  spdlog::info("{} users with {} plays; {} calls a second for {} s", played.users(), played.plays(), options.rate,
               options.seconds);
  LoadQuestions questions(played, {.seed = options.seed,
                                   .candidates_min = args.candidates_min,
                                   .candidates_max = args.candidates_max,
                                   .seen_min = args.seen_min,
                                   .seen_max = args.seen_max});
  const LoadEnvironment environment{.clock = clock,
                                    .wait_or_stop = stop_signal_within_ns,
                                    .own_cpu_seconds = [] { return read_process_stats().cpu_seconds; },
                                    .service_cpu_seconds = [&args] { return service_cpu_seconds(args.admin); }};
  return run_load(options, questions, environment);
}

// Writes a line for each status code, with its number of calls.
void tell_errors(const LoadArgs& args, const std::string& call, const LoadCalls& calls) {
  for (const auto& [code, reason] : calls.reasons) {
    const bool scene = code == "INVALID_ARGUMENT" && reason.starts_with("scene");
    const std::string way_out = scene ? "; name the scene of the plays with --scene" : "";
    log_warning(args.server + ": " + std::to_string(calls.errors.at(code)) + " calls of " + call + " got " + code +
                "; the first: " + reason + way_out);
  }
}

}  // namespace

int load_command(const LoadArgs& args) {
  hold_stop_signals();
  const LoadOptions options{.server = args.server,
                            .tls = args.tls,
                            .scene = args.scene,
                            .rate = args.rate,
                            .seconds = args.seconds,
                            .warm_up_seconds = args.warm_up_seconds,
                            .deadline_ms = args.timeout_ms,
                            .connections = args.connections,
                            .served = args.served,
                            .seed = args.model.seed};
  const Result<LoadReport> report_ = load(args, options);
  if (!report_.ok()) return report_result(report_.status(), args.output == OutputFormat::kJson);
  print(args.output == OutputFormat::kText ? to_text(options, *report_) : to_json(options, *report_));
  tell_errors(args, "Filter", report_->filter);
  tell_errors(args, "RecordServed", report_->served);
  if (report_->filter.ok() == 0) return report(fatal(args.server + ": no call was answered"));
  if (report_->played_unseen == 0) return finish_output(0);
  const std::string count = std::to_string(report_->played_unseen) + " of " + std::to_string(report_->played);
  report(fatal(count + " played items are unseen in complete answers; they must be 0 once the plays are ingested. Were "
                       "they produced (`bloomring generate` prints those of --users and --seed)? Look at --scene, "
                       "whether they are older than filter.periods_read periods, and whether their users have "
                       "forgotten them (a forget makes items unseen that were played)"));
  return finish_output(kFoundWhatMustNotBe);
}

}  // namespace bloomring::cli
