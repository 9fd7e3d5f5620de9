// The declaration of a metric. Each room declares its metrics in a small header of its own, named `*_metrics.h`, and
// lists them there; pipeline/metrics/all_metrics.h joins the lists. This header needs no library.
//
// Words are those of the glossary. An absent series means unknown; no gauge uses -1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bloomring {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
std::string_view metric_type_name(MetricType type);

// A label: its name and, where they are a closed list, its values separated by "|". Labels without a list must be
// bounded by nature (partition, stage); an id, an offset or a text is never a label.
struct MetricLabel {
  std::string_view name;
  std::string_view values;
};

// One metric. The unit is the last word of the name: _seconds, _bytes, _ratio; _total ends counters and nothing else.
struct MetricDecl {
  std::string_view name;
  MetricType type;
  std::string_view help;                   // Full sentences.
  std::array<MetricLabel, 5> labels = {};  // In order; empty names are none.
  std::span<const double> buckets = {};    // Histograms: upper ends, ascending, without infinity.

  constexpr size_t label_count() const {
    size_t count = 0;
    while (count < labels.size() && !labels[count].name.empty()) ++count;
    return count;
  }
};

namespace metric {

inline constexpr std::string_view kStages = "";  // Any: the topology names them.

}  // namespace metric

}  // namespace bloomring
