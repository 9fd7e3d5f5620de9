// Tests candidates in the caller, against a blob of GetSnapshot: the same verdicts as the service gave at that moment.
//
//   BLOOMRING_TRY_ASSIGN(std::string blob, client->snapshot("u1", "feed"));
//   BLOOMRING_TRY_ASSIGN(SnapshotFilter filter, SnapshotFilter::open(std::move(blob)));
//   std::vector<ItemVerdict> verdicts = filter.filter(items);
//
// What is played or served afterwards is not in it: take a new one for each request, or pass what happened meanwhile.
// Threading: one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/client.h"

namespace bloomring {

class SnapshotFilter {
 public:
  // kCorrupt for bytes that are not exactly a snapshot.
  static Result<SnapshotFilter> open(std::string blob);
  ~SnapshotFilter();
  SnapshotFilter(SnapshotFilter&&) noexcept;
  SnapshotFilter& operator=(SnapshotFilter&&) noexcept;

  std::vector<ItemVerdict> filter(std::span<const std::string> items);

  // Of the blob, which the filter keeps; valid as long as the filter, and its successor where it is moved.
  std::string_view user() const BLOOMRING_LIFETIMEBOUND;
  std::string_view scene() const BLOOMRING_LIFETIMEBOUND;
  bool complete() const;
  int64_t made_at_ms() const;     // By the service's clock.
  double expected_error() const;  // That an item that was never played counts as seen.

 private:
  struct Impl;
  explicit SnapshotFilter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
