#include "cli/shadow/shadow_command.h"

#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "cli/jobs/run_job.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/shadow/forget_lookup.h"
#include "pipeline/admin/admin_server.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/shadow/old_store.h"
#include "pipeline/shadow/query_file.h"
#include "pipeline/shadow/query_queue.h"
#include "pipeline/shadow/shadow_metrics.h"
#include "pipeline/shadow/shadow_report.h"
#include "pipeline/stores/open_legacy.h"
#include "serving/mirror/mirror_server.h"

namespace bloomring::cli {

namespace {

constexpr int64_t kShowOnTerminalNs = 1'000'000'000;
constexpr int64_t kShowInLogNs = 10'000'000'000;

// The pages of a process that takes copies: /metrics, and that it is ready.
struct ShadowPages {
  Metrics metrics;
  Health health;
  SharedCounts counts;
  Histogram& old_seconds = metrics.histogram(metric::kShadowSeconds, {"old"});
  Histogram& new_seconds = metrics.histogram(metric::kShadowSeconds, {"new"});
  Metrics::Registration scraped =
      metrics.on_scrape([this](Scrape& scrape) { write_all(scrape, shadow_series(), counts.get()); });
  std::unique_ptr<AdminServer> server;  // Last: it uses the rest.

  Status start(const std::string& listen) {
    if (listen.empty()) return {};
    health.set_ready("shadow");
    auto started = AdminServer::start(listen, admin_pages(metrics, health), {}, "--admin");
    if (!started.ok()) return started.status();
    server = std::move(*started);
    return {};
  }
};

Result<std::unique_ptr<MirrorServer>> start_mirror(const std::string& listen, const Settings& settings,
                                                   QueryQueue& queue) {
  MirrorServerConfig config;
  config.listen = listen;
  config.tls = settings.serve.tls;
  config.limits.scenes = settings.events.scene_rules();
  config.take = [&queue](FilterCall query) {
    if (query.all_scenes) return queue.pass_over();
    queue.push(std::move(query));
  };
  config.refused = [&queue] { queue.refuse(); };
  return MirrorServer::start(std::move(config));
}

// For scripts: where the endpoints are.
void tell_ready(const MirrorServer* mirror, const AdminServer* admin) {
  nlohmann::ordered_json ready = {{"ready", true}};
  if (mirror != nullptr) ready["grpc"] = mirror->address();
  if (admin != nullptr) ready["admin"] = admin->address();
  print(ready.dump() + "\n");
}

class Shadow {
 public:
  Shadow(const ShadowArgs& args, const Settings& settings, const Calendar& calendar, const Clock& clock)
      : args_(args), settings_(settings), calendar_(calendar), clock_(clock) {}

  Result<int> run() {
    BLOOMRING_TRY(pages_.start(args_.admin));
    if (!args_.queries.empty()) {
      BLOOMRING_TRY_ASSIGN(QueryFile file, QueryFile::open(args_.queries));
      return compare(file);
    }
    QueryQueue queue;
    BLOOMRING_TRY_ASSIGN(mirror_, start_mirror(args_.listen, settings_, queue));
    auto code = compare(queue);
    mirror_.reset();
    return code;
  }

 private:
  ShadowConfig comparer_config() const {
    return {.settle_ms = static_cast<int64_t>(args_.settle_seconds * 1e3),
            .old_filters = args_.old_kind == OldKind::kFilters,
            .old_error_rate = args_.old_error_rate,
            .new_error_rate = settings_.filter.false_positive_rate};
  }

  Result<int> compare(QuerySource& source) {
    BLOOMRING_TRY_ASSIGN(const LegacyStore store, open_legacy(settings_));
    BLOOMRING_TRY_ASSIGN(FoundFile differences, FoundFile::open(args_.differences));
    OldStore old_store({args_.old_kind == OldKind::kFilters, args_.cut_members}, store.layout, *store.client, clock_);
    const auto client = Client::connect(
        {.server = args_.server, .deadline_ms = args_.timeout_ms, .fail_open = false, .tls = args_.tls});
    ForgetLookup forgets(settings_, calendar_, clock_, *client);
    ShadowComparer comparer(
        comparer_config(),
        {calendar_, clock_, differences, [&](const FilterCall& call) { return old_store.ask(call); },
         [&](const FilterCall& call) { return client->filter(call); },
         [&](const FilterCall& call, const std::vector<int64_t>& times_ms) { return forgets.ask(call, times_ms); },
         [this](double old_seconds, double new_seconds) {
           pages_.old_seconds.observe(old_seconds);
           pages_.new_seconds.observe(new_seconds);
         }});
    if (mirror_ || pages_.server) tell_ready(mirror_.get(), pages_.server.get());
    const ShadowRunConfig config{args_.rate, static_cast<int64_t>(args_.seconds * 1e3)};
    const ShadowRunParts parts{clock_, source, comparer, stop_signal_within_ns,
                               [this](const ShadowCounts& counts) { show(counts); }};
    BLOOMRING_TRY_ASSIGN(const ShadowEnd end, run_shadow(config, parts));
    print(args_.output == OutputFormat::kText ? shadow_text(end, comparer) : shadow_json(end, comparer));
    return exit_code_of(end, comparer);
  }

  void show(const ShadowCounts& counts) {
    pages_.counts.set(counts);
    const int64_t now_ns = clock_.steady_ns();
    if (now_ns - shown_ns_ < show_interval_ns_) return;
    shown_ns_ = now_ns;
    line_.show({{"compared", counts.compared},
                {"missing", counts.of(ShadowResult::kMissing)},
                {"in_doubt", counts.of(ShadowResult::kDoubt)},
                {"dropped", counts.dropped}});
  }

  int exit_code_of(const ShadowEnd& end, const ShadowComparer& comparer) const {
    if (comparer.differences()) {
      report(fatal("differences without an explanation: the report has their counts" +
                   (args_.differences.empty() ? std::string("; name a file for them with --differences")
                                              : ", and " + args_.differences + " has each of them")));
      return kFoundWhatMustNotBe;
    }
    const bool asked = end.counts.failed_old + end.counts.failed_new + end.counts.incomplete > 0;
    if (end.counts.compared == 0 && asked) {
      report(fatal("no query was answered completely by both services"));
      return 1;
    }
    const bool cut_short = end.stopped && !args_.queries.empty() && args_.seconds == 0;
    if (cut_short) log_warning("the command was stopped before the end of the queries", {{"file", args_.queries}});
    return cut_short ? 1 : 0;
  }

  const ShadowArgs& args_;
  const Settings& settings_;
  const Calendar& calendar_;
  const Clock& clock_;
  ShadowPages pages_;
  std::unique_ptr<MirrorServer> mirror_;
  ProgressLine line_{"comparing"};
  const int64_t show_interval_ns_ = isatty(STDERR_FILENO) != 0 ? kShowOnTerminalNs : kShowInLogNs;
  int64_t shown_ns_ = clock_.steady_ns();
};

Result<int> shadow(const ShadowArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY(check(args.tls));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  return Shadow(args, settings, calendar, clock).run();
}

}  // namespace

int shadow_command(const ShadowArgs& args) {
  return job_process(args.output, [&args](const Clock& clock) { return shadow(args, clock); });
}

}  // namespace bloomring::cli
