// The metrics of dead letters, which every task that reads records may write.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

// Why a stage refuses a record. The list is closed: the schemas name their refusals by these words.
inline constexpr std::string_view kRefusalReasons =
    "malformed_json|missing_field|wrong_type|empty_id|id_too_long|time_too_early|time_ahead|unknown_event|too_large|"
    "not_utf8|bad_block|bad_batch|unknown_scene|repeated_field|forget_not_allowed";
inline constexpr MetricDecl kDeadLetters{
    "bloomring_dead_letters_total",
    MetricType::kCounter,
    "Records refused to the dead-letter topic, by stage and reason.",
    {{{"stage", kStages}, {"reason", kRefusalReasons}}}};

inline constexpr const MetricDecl* kDeadLetterMetrics[] = {
    &kDeadLetters};

}  // namespace bloomring::metric
