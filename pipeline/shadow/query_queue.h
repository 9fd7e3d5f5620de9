// Copies of live queries, between the threads that get them and the one that compares.
//
// Guarantees: `push` never waits; without room it drops the query and counts it. Live calls are never held up.
// Memory: kQueriesMax queries and kBytesMax bytes of ids.
// Threading: `push` and the counts are thread safe; `next` belongs to one thread.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "pipeline/shadow/query_source.h"

namespace bloomring {

class QueryQueue final : public QuerySource {
 public:
  static constexpr size_t kQueriesMax = 1'000;
  static constexpr size_t kBytesMax = 64 << 20;

  void push(FilterCall query);
  void refuse() { ++refused_; }       // A call that is no query.
  void pass_over() { ++unlike_; }     // A query for which the old store has no question.

  Result<std::optional<FilterCall>> next() override;
  bool ended() const override { return false; }
  uint64_t refused() const override { return refused_; }
  uint64_t dropped() const override { return dropped_; }
  uint64_t unlike() const override { return unlike_; }

 private:
  std::mutex mutex_;
  std::deque<FilterCall> queries_;
  size_t bytes_ = 0;
  std::atomic<uint64_t> refused_{0}, dropped_{0}, unlike_{0};
};

}  // namespace bloomring
