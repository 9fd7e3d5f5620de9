#include "pipeline/stages/base/group_poller.h"

#include <utility>

#include "base/log.h"
#include "pipeline/status/stage_metrics.h"

namespace bloomring {

GroupPoller::~GroupPoller() { stop(StopMode::kRestart); }

Status GroupPoller::start(const kafka::ClientSettings& settings, std::vector<std::string> topics,
                          kafka::GroupListener& listener, const Clock& clock) {
  Status status;
  set_not_ready("waiting for its first assignment");
  worker_.call([&] {
    membership_.emplace(Membership{settings, std::move(topics), listener, clock});
    status = join();
    if (status.ok()) worker_.drive(*this, "the consumer group of " + stage_);
  });
  return status;
}

Status GroupPoller::join() {
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::GroupConsumer::create(membership_->settings, membership_->topics,
                                                               membership_->listener, membership_->clock));
  counted_ = totals_.share();
  return {};
}

void GroupPoller::stop(StopMode mode) {
  worker_.call([&] {
    worker_.stop_driving(*this);
    close(mode);
  });
}

void GroupPoller::close(StopMode mode) {
  if (!consumer_) return;
  if (mode == StopMode::kLeaveGroup) {
    consumer_->leave();
  } else {
    consumer_->close();
  }
  report();
  consumer_.reset();
}

Result<bool> GroupPoller::poll() {
  if (!consumer_) {
    if (!fencing_.may_join(membership_->clock.steady_ns())) return false;
    const Status joined = join();
    if (joined.code() == Code::kRetry) return true;  // No broker answers; the next poll tries again.
    BLOOMRING_TRY(Status(joined));
  }
  if (consumer_->stats().assigned > 0 && !lease_.renew()) {
    join_after_standstill();
    return true;
  }
  const bool had_place = consumer_->stats().has_place;
  Status polled = consumer_->poll(kPollMs);
  if (polled.code() == Code::kFenced) polled = join_again(polled, had_place);
  BLOOMRING_TRY(std::move(polled));
  if (consumer_) report();
  return true;
}

Status GroupPoller::join_again(const Status& fenced, bool had_place) {
  if (!fencing_.joins_again(had_place, membership_->clock.steady_ns())) return fenced;
  const char* why = had_place ? "joins once more" : "it had no place to lose, and joins again";
  log_warning(stage_ + ": " + fenced.message() + "; " + why + " with the same id",
              {{"stage", stage_}, {"code", code_name(fenced.code())}});
  set_not_ready("was fenced and joins its group again");
  close(StopMode::kRestart);
  return {};
}

void GroupPoller::join_after_standstill() {
  log_warning(stage_ +
                  ": this process stood still for longer than the lease of its partitions; it gives them up and "
                  "joins its group again",
              {{"stage", stage_}});
  set_not_ready("stood still and joins its group again");
  consumer_->abandon();
  close(StopMode::kRestart);
}

void GroupPoller::set_not_ready(const std::string& reason) {
  health_.set_not_ready(stage_, reason);
  reported_ready_ = false;
}

void GroupPoller::set_ready() {
  if (!std::exchange(reported_ready_, true)) health_.set_ready(stage_);
}

void GroupPoller::report() {
  const kafka::GroupStats stats = consumer_->stats();
  counted_.set(stats);
  metrics_.gauge(metric::kAssignedPartitions, {stage_}).set(static_cast<double>(stats.assigned));
  if (stats.rebalances > 0) set_ready();
  metrics_.gauge(metric::kStageReady, {stage_}).set(stats.rebalances > 0 ? 1 : 0);
}

}  // namespace bloomring
