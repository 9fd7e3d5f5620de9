#include "cli/plan/plan_command.h"

#include "cli/output.h"
#include "cli/plan/plan_report.h"
#include "pipeline/plan/plan.h"
#include "pipeline/stages/topology.h"

namespace bloomring::cli {

namespace {

Status keep_months(uint32_t months, FilterSettings& filter) {
  if (filter.period != PeriodUnit::kMonth)
    return invalid("--months: filter.period of the configuration is no month; set filter.retention_periods there");
  if (months + 1 < filter.periods_read)
    return invalid("--months: " + std::to_string(months) + " are fewer than a query reads; give at least " +
                   std::to_string(filter.periods_read - 1) + " (filter.periods_read - 1)");
  filter.retention_periods = months;
  return {};
}

Result<PlanInput> input_of(const PlanArgs& args) {
  PlanInput input = args.input;
  BLOOMRING_TRY_ASSIGN(input.settings, load_command_settings(args.config));
  input.settings.stages = all_stages(topology());
  input.on_servers = args.on_servers.value_or(!input.settings.store.folder());
  input.replicas = args.replicas.value_or(input.settings.serve.replication_factor);
  if (args.months) BLOOMRING_TRY(keep_months(*args.months, input.settings.filter));
  if (args.plays_per_user.empty()) return input;
  auto shape = PlaysShape::parse(args.plays_per_user);
  BLOOMRING_TRY(shape.status().with_context("--plays-per-user"));
  input.shape = std::move(*shape);
  return input;
}

}  // namespace

int plan_command(const PlanArgs& args) {
  const bool json = args.output == OutputFormat::kJson;
  const auto input = input_of(args);
  if (!input.ok()) return finish_output(report_result(input.status(), json));
  const auto plan = make_plan(*input);
  if (!plan.ok()) return finish_output(report_result(plan.status(), json));
  print(json ? plan_json(*input, *plan) : plan_text(*input, *plan));
  return finish_output(plan->findings.empty() ? 0 : kFoundWhatMustNotBe);
}

}  // namespace bloomring::cli
