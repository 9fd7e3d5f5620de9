#include "pipeline/group_poller.h"

#include "base/metric_names.h"

namespace bloomring {

GroupPoller::~GroupPoller() { stop(); }

Status GroupPoller::start(const kafka::ClientSettings& settings, std::vector<std::string> topics, kafka::GroupListener& listener,
                          const Clock& clock) {
  Status status;
  health_.set_not_ready(stage_, "waiting for its first assignment");
  worker_.call([&] {
    auto created = kafka::GroupConsumer::create(settings, std::move(topics), listener, clock);
    status = created.status();
    if (!status.ok()) return;
    consumer_ = std::move(*created);
    worker_.add(*this);
  });
  return status;
}

void GroupPoller::stop() {
  worker_.call([this] {
    if (!consumer_) return;
    worker_.remove(*this);
    consumer_->close();
    count();
    consumer_.reset();
  });
}

Result<bool> GroupPoller::step(int64_t) {
  BLOOMRING_TRY(consumer_->poll(kPollMs));
  count();
  return true;
}

void GroupPoller::count() {
  const kafka::GroupStats stats = consumer_->stats();
  metrics_.counter(metric::kCommits, {stage_, "ok"}).add(static_cast<uint64_t>(stats.commits - counted_.commits));
  metrics_.counter(metric::kCommits, {stage_, "failed"}).add(static_cast<uint64_t>(stats.commit_failures - counted_.commit_failures));
  metrics_.gauge(metric::kAssignedPartitions, {stage_}).set(static_cast<double>(stats.assigned));
  metrics_.counter(metric::kRebalances, {stage_, "assign"}).add(static_cast<uint64_t>(stats.rebalances - counted_.rebalances));
  if (counted_.rebalances == 0 && stats.rebalances > 0) health_.set_ready(stage_);
  metrics_.gauge(metric::kStageReady, {stage_}).set(stats.rebalances > 0 ? 1 : 0);
  counted_ = stats;
}

}  // namespace bloomring
