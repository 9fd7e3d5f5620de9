// Internal to pipeline/kafka: the commits that tasks asked for and that were not sent yet. Only the last of a
// partition counts, so its size is bounded by the partitions held.
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
  // Records what could not be committed again, unless the partition has asked for something newer since.
  void put_back(const TopicPartition& at, Offset next);
  void clear();

 private:
  std::mutex mutex_;
  Commits commits_;  // Guarded by mutex_.
};

}  // namespace bloomring::kafka
