// Writing a filter store: one of its three interfaces (reading: filter_reader.h; administration: store_admin.h). A
// network may lie behind it, so no operation waits: a caller begins one and asks later whether it has ended.
//
// One writer writes a partition. Taking the partition over fences an earlier writer out: its operations end with
// kFenced and write nothing. So two processes that both believe to own a partition lose nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/forgotten.h"
#include "schemas/watermark.h"
#include "state/store/stored_values.h"

namespace bloomring {

// The writer of one partition. It carries out one operation at a time: after a `begin_...`, `poll` must have returned
// its end before the next one. (One at a time is fast enough: an operation carries a whole record of user-batches, some
// thousand updates, which a backend pipelines.) What an operation borrows stays in place until its end; the destructor
// ends a running operation before it returns.
//
// Guarantees: an advance that ended with ok made everything durable that was applied before it, then wrote the
// watermark, then made the watermark durable. So the store holds everything that a readable watermark covers.
// Errors: kBadRecord for an update that can have no key (invalid user key or period, no items), kRetry when the store
// is not reachable or stalls, kFenced when another writer has taken the partition over, kCorrupt for bytes that are not
// ours, kFatal when the store cannot continue (disk full, lock lost). After a failed `begin_apply` the caller may apply
// the same updates again: filters are united, and forgotten values are written as a whole.
// Threading: used by one thread.
class PartitionWriter {
 public:
  virtual ~PartitionWriter() = default;

  // Reads the forgotten value of each user, to write it back. Of a value that cannot be read it gives the good part and
  // its damage, where a FilterReader gives kCorrupt. After the end, `take_forgotten` returns them, in the order of the
  // keys.
  virtual void begin_read_forgotten(std::span<const UserRef> users) = 0;
  // Removes filters and writes forgotten values, then unites each update with the stored filter. A failure or a crash
  // in the middle leaves the changes made so far, in this order. Not durable before a sync or an advance has ended.
  virtual void begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) = 0;
  // Makes everything applied so far durable.
  virtual void begin_sync() = 0;
  // The same, then writes the partition's watermark durably.
  virtual void begin_advance(const MergedWatermark& watermark) = 0;

  // How the operation ended, once; nothing while it runs. Never waits.
  virtual std::optional<Status> poll() = 0;
  virtual std::vector<Forgotten> take_forgotten() = 0;

  // As FilterReader::merged_ms.
  virtual std::optional<int64_t> merged_ms() const = 0;
};

// Advances the watermark and waits for the end: for tools, never for a step.
Status advance_now(PartitionWriter& writer, const MergedWatermark& watermark);

// Threading: thread safe.
class FilterWriter {
 public:
  virtual ~FilterWriter() = default;
  // Makes the caller the writer of the partition, and fences out an earlier one. May wait: for the place where a
  // partition opens. kInvalid for a partition that the store does not have.
  virtual Result<std::unique_ptr<PartitionWriter>> take_over(PartitionId partition) = 0;
};

}  // namespace bloomring
