// The serve stage of a process: the recent plays of its partitions, and the query service on the gRPC port.
//
// Health: not ready until every partition has been read to the end it had at the start.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "pipeline/catch_up.h"
#include "pipeline/kafka/assigned_consumer.h"
#include "pipeline/kafka_event_log.h"
#include "pipeline/partition_levels.h"
#include "pipeline/replica_task.h"
#include "pipeline/stage_context.h"
#include "pipeline/worker.h"
#include "serving/candidate_filter.h"
#include "serving/grpc_server.h"
#include "serving/replica_placement.h"

namespace bloomring {

class ServeStage final : private PartitionDirectory {
 public:
  explicit ServeStage(const StageContext& context);
  ~ServeStage() override { stop(); }

  Status start();
  // Refuses new calls, lets those in flight finish, then lets the partitions go.
  void stop();
  // "host:port" of the gRPC port, once started.
  std::string address() const { return server_ ? server_->address() : std::string(); }

  // Recent plays held, over all partitions.
  uint64_t recent_plays() const;

 private:
  uint32_t partition_count() const override { return context_.settings.topics.partitions; }
  std::shared_ptr<HeldPartition> find(PartitionId partition) const override;
  std::vector<std::string> holders(PartitionId partition) const override;

  // What is decided of one partition before it is read.
  struct Beginning {
    kafka::TopicPartition partition;
    Offset merged;         // Recent plays begin here...
    int64_t log_floor_ms;  // ...in an hour behind those that are merged...
    Offset read_from;      // ...and what was served, and is young enough, here.
    Offset log_end;        // As of asking:
    int64_t asked_at_ms;
  };
  Result<std::vector<Beginning>> decide_beginnings(const std::vector<PartitionId>& ids);
  Result<MergedWatermark> merged_of(PartitionId partition, Offset log_start);
  Status assign_partitions();
  Status open_log();
  Status serve_calls();
  void ask_log_ends();
  void report();
  void count_queries();
  void observe(const grpc::Status& status, double seconds);
  void write(Scrape& scrape);
  static void write_calls(Scrape& scrape, const ServingCounters& counters);
  void write_cache(Scrape& scrape, const FilterCacheStats& cache) const;

  const StageContext context_;
  const ReplicaPlacement placement_;
  PartitionLevels levels_;
  CatchUpReport catch_up_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;
  std::vector<kafka::TopicPartition> partitions_;               // That this replica holds; constant once started.
  std::map<PartitionId, std::shared_ptr<HeldPartition>> held_;  // Constant once started; shared with requests.
  std::vector<std::unique_ptr<ReplicaTask>> tasks_;             // Of the worker.
  std::vector<ReplicaStats> counted_;
  std::vector<uint64_t> verdicts_counted_;
  std::unique_ptr<CandidateFilter> core_;
  std::unique_ptr<KafkaEventLog> log_;
  std::unique_ptr<GrpcServer> server_;
  std::atomic<bool> serving_{false};
  Metrics::Registration registration_;
  std::unique_ptr<Worker> worker_;  // Its thread uses what is above,
  std::unique_ptr<Worker>
      enquirer_;  // and this one's uses that worker: it waits for brokers, so that nobody else has to.
};

}  // namespace bloomring
