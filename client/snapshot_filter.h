// Tests candidates in the caller, against a blob of GetSnapshot: the verdicts that the service would have given at
// that moment.
//
//   BLOOMRING_TRY_ASSIGN(std::string blob, client->snapshot("u1", "feed"));
//   BLOOMRING_TRY_ASSIGN(SnapshotFilter filter, SnapshotFilter::open(std::move(blob)));
//   std::vector<ItemVerdict> verdicts = filter.filter(items);
//
// Later plays and serves are not in it: take a new snapshot for each request.
// Threading: one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/filter_call.h"

namespace bloomring {

class SnapshotFilter {
 public:
  // kCorrupt for bytes that are not exactly a snapshot.
  static Result<SnapshotFilter> open(std::string blob);
  ~SnapshotFilter();
  SnapshotFilter(SnapshotFilter&&) noexcept;
  SnapshotFilter& operator=(SnapshotFilter&&) noexcept;

  std::vector<ItemVerdict> filter(std::span<const std::string> items);

  // Point into the blob, which the filter keeps: valid as long as the filter, or the one that it is moved to.
  std::string_view user() const BLOOMRING_LIFETIMEBOUND;
  std::string_view scene() const BLOOMRING_LIFETIMEBOUND;
  bool complete() const;
  int64_t made_at_ms() const;     // By the service's clock.
  double expected_error() const;  // Probability that an unplayed item counts as seen.

 private:
  struct Impl;
  explicit SnapshotFilter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
