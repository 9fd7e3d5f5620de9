#include "pipeline/tasks/ingest_metrics.h"

#include "schemas/json/play_json.h"
#include "schemas/refusal.h"

namespace bloomring {

namespace {

// Only later stages refuse for these.
bool of_plays(Refusal refusal) { return refusal != Refusal::kBadBlock && refusal != Refusal::kBadBatch; }

}  // namespace

SeriesTable<IngestStats> ingest_series() {
  using namespace metric;
  using Stats = IngestStats;
  SeriesTable<Stats> table = {
      {&kIngestRecords, {"accepted"}, &Stats::accepted},
      {&kIngestRecords, {"repeat"}, &Stats::repeats},
      {&kIngestRecords, {"skipped"}, [](const Stats& stats) { return static_cast<double>(stats.skipped_in_all()); }},
      {&kIngestRecords, {"refused"}, [](const Stats& stats) { return static_cast<double>(stats.refused_in_all()); }},
      {&kIngestAhead, {"within"}, &Stats::ahead},
      {&kIngestAhead, {"beyond"}, &Stats::far_ahead},
      {&kBlocks, {}, &Stats::blocks},
      {&kBlockBytes, {}, &Stats::block_bytes},
  };
  for (size_t i = 1; i < kSkipCount; ++i) {
    table.push_back({&kIngestSkipped, {skip_name(static_cast<Skip>(i))}, [i](const Stats& stats) {
                       return static_cast<double>(stats.skipped[i]);
                     }});
  }
  for (size_t i = 1; i < kRefusalCount; ++i) {
    if (!of_plays(static_cast<Refusal>(i))) continue;
    const std::string_view reason = refusal_name(static_cast<Refusal>(i));
    const auto refused = [i](const Stats& stats) { return static_cast<double>(stats.refused[i]); };
    table.push_back({&kIngestRefused, {reason}, refused});
    table.push_back({&kDeadLetters, {"ingest", reason}, refused});
  }
  return table;
}

}  // namespace bloomring
