#include "pipeline/stages/view_merge_stage.h"

#include "base/log.h"
#include "operators/merge_start.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

ViewMergeStage::ViewMergeStage(const StageContext& stage_context, const ViewRow& row, MemoryUse queue)
    : PartitionStage(stage_context, {"reads the merged watermark", queue},
                     stage_context.settings.topics.name(row.batches), stage_context.settings.threads.merge),
      row_(row),
      levels_(stage_context.metrics, stage_context.clock,
              levels_config(stage_context)) {
  BLOOMRING_CHECK(stage_context.row.name == row.merge_stage, "a view is merged by the group that the window watches");
}

Result<PartitionStage::PartitionWork> ViewMergeStage::make(PartitionId partition, const kafka::PartitionFacts& facts,
                                                           std::unique_ptr<Source> source) {
  BLOOMRING_TRY_ASSIGN(auto merge, row_.merge(context(), lease(), partition));
  const std::optional<MergedWatermark>& watermark = merge->watermark();
  const MergeStart start = decide_merge_start({facts.committed, facts.log_start, facts.log_end});
  log_debug("merge: begins" + (start.reason.empty() ? std::string() : ": " + std::string(start.reason)),
            {{"stage", context().row.name},
             {"topic", topic()},
             {"partition", partition.value},
             {"offset", start.read_from.value},
             {"log_end", facts.log_end.value},
             {"merged_topic", context().settings.topics.name(TopicRole::kUserEvents)},
             {"merged_offset", watermark ? watermark->offset.value : 0}});
  MergeTaskConfig config;
  config.partition = partition;
  config.stage = context().stage();
  config.batches_topic = topic();
  config.dead_topic = context().settings.topics.name(TopicRole::kDeadLetters);
  auto task = std::make_unique<MergeTask>(std::move(config), std::move(merge), std::move(source), make_sink());
  return PartitionWork{std::move(task), start.read_from};
}

void ViewMergeStage::report(PartitionId partition, PartitionTask& any) {
  const auto& task = static_cast<const MergeTask&>(any);
  levels_.set(topic(), partition, {task.applied(), task.committed(), task.source().log_end()});
}

void ViewMergeStage::untrack(PartitionId partition, bool lost) { levels_.remove(topic(), partition, lost); }

StageStatus ViewMergeStage::status() const {
  return {.stage = context().stage(), .partitions = levels_.status()};
}

}  // namespace bloomring
