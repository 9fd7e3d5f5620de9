// Internal to pipeline/kafka: the commits that tasks asked for and that were not sent yet. Only the last of a
// partition counts, so the partitions held bound its size.
//
// Threading: thread safe.
#pragma once

#include <map>
#include <mutex>

#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

class CommitBoard {
 public:
  using Commits = std::map<TopicPartition, Offset>;

  void record(const TopicPartition& at, Offset next);
  // Everything recorded since the last `take`.
  Commits take();
  // Records a failed commit again, unless a newer one was recorded for the partition since.
  void put_back(const TopicPartition& at, Offset next);
  void clear();

 private:
  std::mutex mutex_;
  Commits commits_;  // Guarded by mutex_.
};

}  // namespace bloomring::kafka
