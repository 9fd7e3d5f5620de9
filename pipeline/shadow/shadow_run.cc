#include "pipeline/shadow/shadow_run.h"

#include <algorithm>

#include "pipeline/jobs/pace.h"

namespace bloomring {

namespace {

constexpr int64_t kWaitNs = 5'000'000;

class Run {
 public:
  Run(const ShadowRunConfig& config, const ShadowRunParts& parts)
      : config_(config), parts_(parts), pace_(config.rate) {}

  Result<ShadowEnd> run() {
    const int64_t begun_ns = parts_.clock.steady_ns();
    ShadowEnd end;
    while (!ended()) {
      const int64_t passed_ms = (parts_.clock.steady_ns() - begun_ns) / 1'000'000;
      BLOOMRING_TRY_ASSIGN(const bool worked, turn());
      end.stopped = parts_.wait_or_stop(worked ? 0 : kWaitNs) || (config_.end_ms != 0 && passed_ms >= config_.end_ms);
      if (parts_.show) parts_.show(counts());
      if (end.stopped) break;
    }
    while (parts_.comparer.due_ms()) {
      BLOOMRING_TRY(parts_.comparer.settle_next(/*last=*/true));
      if (!parts_.comparer.answered()) parts_.comparer.give_up();  // Each further question could take its whole time.
    }
    end.counts = counts();
    end.seconds = static_cast<double>(parts_.clock.steady_ns() - begun_ns) / 1e9;
    return end;
  }

 private:
  bool ended() const { return parts_.source.ended() && !parts_.comparer.due_ms(); }

  // False: there was nothing to do.
  Result<bool> turn() {
    bool worked = false;
    const auto due_ms = parts_.comparer.due_ms();
    if (due_ms && *due_ms <= parts_.clock.now_ms()) {
      BLOOMRING_TRY(parts_.comparer.settle_next(/*last=*/false));
      worked = true;
    }
    if (!parts_.comparer.takes() || pace_.allowed(parts_.clock.steady_ns()) == 0) return worked;
    BLOOMRING_TRY_ASSIGN(const std::optional<FilterCall> query, parts_.source.next());
    if (!query) return worked;
    pace_.spend(1);
    BLOOMRING_TRY(parts_.comparer.compare(*query));
    return true;
  }

  ShadowCounts counts() const {
    ShadowCounts counts = parts_.comparer.counts();
    counts.refused = parts_.source.refused();
    counts.dropped = parts_.source.dropped();
    counts.unlike = parts_.source.unlike();
    return counts;
  }

  const ShadowRunConfig& config_;
  const ShadowRunParts& parts_;
  Pace pace_;
};

}  // namespace

Result<ShadowEnd> run_shadow(const ShadowRunConfig& config, const ShadowRunParts& parts) {
  return Run(config, parts).run();
}

}  // namespace bloomring
