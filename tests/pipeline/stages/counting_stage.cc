#include "tests/pipeline/stages/counting_stage.h"

namespace bloomring::testing {
namespace {

class CountingTask final : public PartitionTask {
 public:
  explicit CountingTask(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  Result<bool> step(int64_t) override {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, source_->poll());
    if (!record) return false;
    ++records;
    source_->commit(source_->position());
    return true;
  }
  Status close() override { return {}; }

  double records = 0;

 private:
  const std::unique_ptr<Source> source_;
};

}  // namespace

StageRow CountingStage::row() {
  return {.name = "counting",
          .purpose = "counts the records of user-events",
          .reads = {TopicRole::kUserEvents},
          .writes = {},
          .in_group = true,
          .claim =
              [](const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
                claims.push_back(queue_claim(MemoryUse::kOther, "counting queue", counts.pipeline, 1));
              },
          .make = [](const StageContext& context) -> std::unique_ptr<Stage> {
            return std::make_unique<CountingStage>(context);
          }};
}

CountingStage::CountingStage(const StageContext& context)
    : PartitionStage(context, {"looks at its partition", MemoryUse::kOther},
                     context.settings.topics.name(TopicRole::kUserEvents), 1) {}

Result<PartitionStage::PartitionWork> CountingStage::make(PartitionId, const kafka::PartitionFacts& facts,
                                                          std::unique_ptr<Source> source) {
  return PartitionWork{std::make_unique<CountingTask>(std::move(source)), facts.committed.value_or(facts.log_start)};
}

void CountingStage::report(PartitionId partition, PartitionTask& task) {
  const std::lock_guard lock(mutex_);
  records_[partition] = dynamic_cast<CountingTask&>(task).records;
}

void CountingStage::untrack(PartitionId partition, bool) {
  const std::lock_guard lock(mutex_);
  records_.erase(partition);
}

StageStatus CountingStage::status() const {
  const std::lock_guard lock(mutex_);
  StageStatus status{.stage = "counting"};
  for (const auto& [partition, records] : records_) status.numbers["records"] += records;
  return status;
}

}  // namespace bloomring::testing
