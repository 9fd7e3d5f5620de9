// Serves a consumer group on a worker's thread, as a task that does nothing else.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "pipeline/health.h"
#include "pipeline/kafka/group_consumer.h"
#include "pipeline/task.h"
#include "pipeline/worker.h"

namespace bloomring {

class GroupPoller final : public Task {
 public:
  GroupPoller(Worker& worker, Metrics& metrics, Health& health, std::string stage)
      : worker_(worker), metrics_(metrics), health_(health), stage_(std::move(stage)) {}
  ~GroupPoller() override;

  // Joins the group; the stage is ready with its first assignment. The listener is called on the worker's thread from now on.
  Status start(const kafka::ClientSettings& settings, std::vector<std::string> topics, kafka::GroupListener& listener, const Clock& clock);
  // Revokes everything and closes the member; its place in the group is kept for the session's time.
  void stop();

  // The one task that waits: inside librdkafka, for at most kPollMs, so that the worker has nothing else to do.
  Result<bool> step(int64_t now_ms) override;

 private:
  void count();
  static constexpr int kPollMs = 100;

  Worker& worker_;
  Metrics& metrics_;
  Health& health_;
  const std::string stage_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;
  kafka::GroupStats counted_;
};

}  // namespace bloomring
