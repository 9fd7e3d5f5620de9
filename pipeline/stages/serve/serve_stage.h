// The serve stage of a process: the recent plays of its partitions, and the query service on the gRPC port.
//
// Health: not ready until every partition has been read to the end it had at the start. A partition that cannot be
// read (serve_partitions.h) keeps the process not ready for 30 s. After that the process is ready without it, and
// names it.
// The process fails /healthz when its gRPC port answers no connection for process.stall_seconds, at least 20 s
// (serving/server/port_probe.h).
// Threading: see Stage. Calls of the gRPC port ask for partitions, holders and scenes on threads of their own.
// Errors: a partition that cannot be read waits (serve_partitions.h). A failure of all partitions ends the process
// through StageContext::on_failure.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/canary/canary.h"
#include "pipeline/runtime/port_watch.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/stage.h"
#include "pipeline/stages/base/stage_context.h"
#include "pipeline/stages/serve/canary_path.h"
#include "pipeline/stages/serve/kafka_event_log.h"
#include "pipeline/stages/serve/redis_old_plays.h"
#include "pipeline/stages/serve/serve_partitions.h"
#include "serving/admission/access.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/replica_placement.h"
#include "serving/server/grpc_server.h"

namespace bloomring {

class ServeStage final : public Stage, private PartitionDirectory {
 public:
  explicit ServeStage(const StageContext& context);
  ~ServeStage() override { stop(StopMode::kRestart); }
  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);

  Status start() override;
  // Tells health checks that this replica ends. It answers calls for serve.drain_seconds more, if it answered any.
  void begin_stop() override;
  // Waits for the end of the drain, refuses new calls, answers those in flight, then closes the partitions.
  void stop(StopMode mode) override;
  // `recent_plays` is the number of plays that are answered from memory.
  StageStatus status() const override;

 private:
  uint64_t recent_plays() const;
  uint32_t partition_count() const override { return context_.settings.topics.partitions; }
  std::shared_ptr<ReplicaPartition> find(PartitionId partition) const override;
  std::vector<std::string> holders(PartitionId partition) const override;
  AllScenes scenes() const override;

  Status open_log();
  Status serve_calls();
  void watch_port();
  void start_canary();
  void report();
  void report_readiness(const ServePartitions::Readiness& readiness);
  void write(Scrape& scrape);
  void write_calls(Scrape& scrape) const;
  void write_memory(Scrape& scrape) const;

  const StageContext context_;
  const ReplicaPlacement placement_;
  std::unique_ptr<CandidateFilter> core_;
  std::unique_ptr<KafkaEventLog> log_;
  std::unique_ptr<Access> access_;  // None: everybody may make every call.
  std::unique_ptr<RedisOldPlays> old_plays_;  // None: nothing is read through.
  std::unique_ptr<GrpcServer> server_;
  std::atomic<bool> serving_{false};
  Metrics::Registration registration_;
  int64_t started_at_ns_ = 0;
  int64_t drained_at_ns_ = 0;  // When the drain is over.
  std::unique_ptr<Worker> worker_;  // Its thread uses the members above.
  std::unique_ptr<ServePartitions> partitions_;
  std::unique_ptr<PortWatch> port_watch_;
  std::unique_ptr<Worker> port_worker_;      // Its thread waits for the gRPC port.
  std::unique_ptr<ServiceCanaryPath> canary_path_;  // Where canary.interval_seconds is set, as the next two.
  std::unique_ptr<Canary> canary_;
  std::unique_ptr<Worker> canary_worker_;    // Its thread waits for the answers that the canary asks for.
  std::unique_ptr<Worker> log_ends_worker_;  // Its thread waits for brokers, and uses worker_.
};

}  // namespace bloomring
