#include "pipeline/stages/base/partition_stage.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "pipeline/kafka/consumer/group_metrics.h"
#include "pipeline/runtime/leased.h"

namespace bloomring {

namespace {
constexpr int64_t kReportIntervalMs = 250;
}

PartitionStage::PartitionStage(StageContext context, Kind kind, std::string topic, size_t threads)
    : context_(std::move(context)),
      stage_(context_.stage()),
      topic_(std::move(topic)),
      queue_(kind.queue),
      lease_(context_.clock, kafka::standstill_max_ms(context_.kafka)),
      opening_(std::move(kind.opens)),
      poll_worker_(
          stage_ + "-poll", context_.clock, [this](const Status& status) { context_.on_failure(stage_, status); },
          &context_.watchdog),
      poller_(poll_worker_, lease_, context_.metrics, context_.health, stage_) {
  for (size_t i = 0; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        stage_ + "-" + std::to_string(i), context_.clock,
        [this](const Status& status) { context_.on_failure(stage_, status); }, &context_.watchdog));
    workers_.back()->set_ticker(kReportIntervalMs, [this, i] { report_all(i); });
  }
}

Status PartitionStage::start() {
  const kafka::ClientSettings group = group_settings(context_, queue_);
  const auto join = [&] { return poller_.start(group, {topic_}, *this, context_.clock); };
  return context_.start_wait.until("the brokers to describe " + topic_, join).with_context(stage_);
}

std::unique_ptr<Sink> PartitionStage::make_sink() {
  return std::make_unique<LeasedSink>(lease_, context_.producer.make_sink());
}

void PartitionStage::stop(StopMode mode) { poller_.stop(mode); }

Result<Offset> PartitionStage::on_assign(const kafka::TopicPartition& at, const kafka::PartitionFacts& facts,
                                         std::unique_ptr<Source> source) {
  log_opening(at);
  auto opened = make(at.partition, facts, std::move(source));
  opening_.end();
  BLOOMRING_TRY_ASSIGN(PartitionWork made, std::move(opened));
  const size_t worker = static_cast<size_t>(at.partition.value) % workers_.size();
  PartitionTask* task = made.task.get();
  lease_.take();
  ++new_partitions_.partitions;
  const Offset from = std::max(made.start, facts.log_start);
  new_partitions_.records_to_go += std::max<int64_t>(0, facts.log_end.value - from.value);
  {
    const std::lock_guard lock(members_mutex_);
    members_[at.partition] = Member{std::move(made.task), worker};
  }
  workers_[worker]->post(
      [this, task, worker, name = stage_ + " " + kafka::to_string(at)] { workers_[worker]->add(*task, name); });
  return made.start;
}

void PartitionStage::on_revoke(std::span<const kafka::TopicPartition> partitions, bool lost) {
  for (const kafka::TopicPartition& at : partitions) {
    Member member;
    {
      const std::lock_guard lock(members_mutex_);
      const auto found = members_.find(at.partition);
      if (found == members_.end()) continue;
      member = std::move(found->second);
      members_.erase(found);
    }
    workers_[member.worker]->call([&] {
      workers_[member.worker]->remove(*member.task);
      const Status closed = lost ? Status() : member.task->close();
      if (!closed.ok()) {
        log_warning(stage_ + ": a partition could not be closed", {{"stage", stage_},
                                                                   {"topic", at.topic},
                                                                   {"partition", at.partition.value},
                                                                   {"code", code_name(closed.code())},
                                                                   {"reason", closed.message()}});
      }
      report(at.partition, *member.task);
      member.task.reset();
    });
    untrack(at.partition, lost);
    context_.metrics.counter(metric::kRebalances, {stage_, lost ? "lost" : "revoke"}).add();
    log_debug(stage_ + (lost ? ": lost to another member" : ": given back"),
              {{"stage", stage_}, {"topic", at.topic}, {"partition", at.partition.value}});
  }
}

void PartitionStage::log_opening(const kafka::TopicPartition& at) {
  opening_.begin(kafka::to_string(at), context_.clock.steady_ns());
  if (!handed_out_) poller_.set_not_ready(opening_.doing());
}

void PartitionStage::on_handed_out() {
  opening_.all_done();
  handed_out_ = true;
  const NewPartitions added = std::exchange(new_partitions_, NewPartitions());
  log_info(stage_ + " begins with its partitions", {{"stage", stage_},
                                                    {"topic", topic_},
                                                    {"partitions", added.partitions},
                                                    {"records_to_go", added.records_to_go}});
}

void PartitionStage::report_all(size_t worker) {
  if (worker == 0) {
    if (const auto opening = opening_.due(context_.clock.steady_ns()))
      log_info(stage_ + " " + *opening, {{"stage", stage_}, {"topic", topic_}});
  }
  std::vector<std::pair<PartitionId, PartitionTask*>> tasks;
  {
    const std::lock_guard lock(members_mutex_);
    for (auto& [partition, member] : members_) {
      if (member.worker == worker) tasks.emplace_back(partition, member.task.get());
    }
  }
  // A task is destroyed only by a message to this thread, so the pointers stay good.
  for (const auto& [partition, task] : tasks) report(partition, *task);
}

}  // namespace bloomring
