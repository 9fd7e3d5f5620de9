#include "base/metric_names.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {
namespace {

constexpr const char* kConfigHead =
    "# Configuration\n\n"
    "Made by `bloomring reference config` from the declarations; do not edit.\n\n"
    "One YAML file, given by `--config`. Each key has an environment variable, and `--set KEY=VALUE` sets it on the "
    "command line: flags go over the environment, the environment over the file, the file over the defaults. Unknown "
    "keys are errors. In the environment a list is written `a,b` and a map `{name: value}`. `bloomring check --print` "
    "shows what is in force and where each value came from.\n\n";

constexpr const char* kMetricsHead =
    "# Metrics\n\n"
    "Made by `bloomring reference metrics` from the declarations; do not edit.\n\n"
    "`/metrics` on the admin port (`admin.listen`), in the Prometheus text format. A label with a closed list of "
    "values "
    "shows them. A series that is not there is unknown, not zero. Histograms have the usual `_bucket`, `_sum` and "
    "`_count`.\n\n";

}  // namespace

int reference_command(const ReferenceArgs& args) {
  switch (args.what) {
    case ReferenceWhat::kConfig: print(kConfigHead + settings_reference()); return 0;
    case ReferenceWhat::kMetrics: print(kMetricsHead + metrics_reference(metric::all())); return 0;
    case ReferenceWhat::kTopics:
    case ReferenceWhat::kFormats: break;
  }
  return report(fatal("this reference page is not built yet"));
}

}  // namespace bloomring::cli
