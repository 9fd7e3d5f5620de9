// Serves a consumer group on a worker's thread, which has nothing else to do.
//
// Fenced: a fenced member (the coordinator reports another member with its instance id) joins again, as a new member
// with the same id. If it is fenced out of its place in the group twice within a minute (pipeline/runtime/fencing.h),
// a second process really uses the id: the poller fails with kFenced, and the process that came later stays. If joins
// take longer than that minute because brokers are away, the two processes take turns until brokers are quick again.
//
// Stalls: while partitions are held, each poll renews the lease. An expired lease means that the process was stopped
// for so long that the group may have given the partitions to others. The poller then gives them up as lost and joins
// again.
// Threading: the worker's thread joins, polls, calls the listener and closes. `start` and `stop` are called by another
// thread and return when the worker has done them.
// Errors: kFenced as above; those of GroupConsumer. While no broker answers, a later poll joins again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics/totals.h"
#include "pipeline/kafka/consumer/group_consumer.h"
#include "pipeline/kafka/consumer/group_metrics.h"
#include "pipeline/runtime/fencing.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/lease.h"
#include "pipeline/io/poller.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/stage.h"

namespace bloomring {

class GroupPoller final : public Poller {
 public:
  // All outlive the poller. The listener takes the lease on each assignment of a partition.
  GroupPoller(Worker& worker, Lease& lease, Metrics& metrics, Health& health, std::string stage)
      : worker_(worker),
        lease_(lease),
        metrics_(metrics),
        health_(health),
        stage_(std::move(stage)),
        totals_(metrics, group_series(stage_)) {}
  ~GroupPoller() override;

  // Joins the group. The stage is ready with its first assignment. From now on the worker's thread calls the listener.
  Status start(const kafka::ClientSettings& settings, std::vector<std::string> topics, kafka::GroupListener& listener,
               const Clock& clock);
  // Revokes everything and closes the member.
  void stop(StopMode mode);

  // Called by the listener from within a poll: the stage is not ready, for this reason, until the poll is over.
  void set_not_ready(const std::string& reason);

  // Renews the lease, then waits inside librdkafka for at most kPollMs; longer while partitions are handed out
  // (GroupConsumer::poll), and up to 5 s while it joins and no broker answers. False while it may not join yet.
  Result<bool> poll() override;

 private:
  // The arguments of `start`, kept to make another member.
  struct Membership {
    kafka::ClientSettings settings;
    std::vector<std::string> topics;
    kafka::GroupListener& listener;
    const Clock& clock;
  };
  Status join();
  Status join_again(const Status& fenced, bool had_place);
  void join_after_standstill();
  void close(StopMode mode);
  void set_ready();
  void report();
  static constexpr int kPollMs = 100;

  Worker& worker_;
  Lease& lease_;
  Metrics& metrics_;
  Health& health_;
  const std::string stage_;
  std::optional<Membership> membership_;
  Totals<kafka::GroupStats> totals_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;  // Null until it could join again.
  Totals<kafka::GroupStats>::Share counted_;        // Of consumer_.
  Fencing fencing_;
  bool reported_ready_ = false;  // The stage's health says so.
};

}  // namespace bloomring
