// Serves a consumer group on a worker's thread, as a task that does nothing else.
//
// Fenced: a member that is told that another one has its instance id joins again, as a new member with the same id. If
// it loses its place in the group in this way twice within a minute (pipeline/runtime/fencing.h) there are really two,
// and the later one to come stays: the poller fails with kFenced. Two whose joins each take longer than that, because
// brokers are away, take turns until brokers are quick again.
//
// Stood still: while partitions are held each step renews the lease. One that had run out means that the process did
// not run for so long that others may have the partitions: they are given up as lost, and the member joins anew.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics/metrics.h"
#include "pipeline/io/task.h"
#include "pipeline/kafka/consumer/group_consumer.h"
#include "pipeline/runtime/fencing.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/lease.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/stage.h"

namespace bloomring {

class GroupPoller final : public Task {
 public:
  // All outlive the poller. The listener takes the lease with each partition that it is given.
  GroupPoller(Worker& worker, Lease& lease, Metrics& metrics, Health& health, std::string stage)
      : worker_(worker), lease_(lease), metrics_(metrics), health_(health), stage_(std::move(stage)) {}
  ~GroupPoller() override;

  // Joins the group; the stage is ready with its first assignment. The listener is called on the worker's thread from
  // now on.
  Status start(const kafka::ClientSettings& settings, std::vector<std::string> topics, kafka::GroupListener& listener,
               const Clock& clock);
  // Revokes everything and closes the member.
  void stop(StopMode mode);

  // Called by the listener from within a poll: the stage is not ready, for this reason, until the poll is over.
  void set_not_ready(const std::string& reason);

  // The one task that waits: inside librdkafka, for at most kPollMs, so that the worker has nothing else to do.
  Result<bool> step(int64_t now_ms) override;

 private:
  // What a member is made from; kept to make another one.
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
  void count();
  static constexpr int kPollMs = 100;

  Worker& worker_;
  Lease& lease_;
  Metrics& metrics_;
  Health& health_;
  const std::string stage_;
  std::optional<Membership> membership_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;  // None while it could not join again yet.
  Fencing fencing_;
  kafka::GroupStats counted_;  // Of consumer_.
  bool told_ready_ = false;    // The stage's health says so.
};

}  // namespace bloomring
