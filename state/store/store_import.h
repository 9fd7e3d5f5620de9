// An import under way: values of another store of the same description go into this one as they are.
//
//     begin_import --> write, many times --> end
//
// Until `end` has ended with ok the store is marked (schemas/store/store_meta.h), and only the same import opens it.
// Guarantees: `end` makes every value durable, then writes the watermarks durably, then removes the mark. Killed at any
// moment and begun again from the first value, an import ends in the same store.
// Errors: kFenced when a stage has taken a partition over meanwhile, kRetry when the store is not reachable or full,
// kFatal when it cannot continue, kCorrupt for a key that is not one of a user's.
// Threading: used by one thread. Waits.
#pragma once

#include <map>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/store/export_file.h"
#include "schemas/watermark.h"

namespace bloomring {

using Watermarks = std::map<PartitionId, MergedWatermark>;

class StoreImport {
 public:
  virtual ~StoreImport() = default;
  // Values with different keys. They expire as if the store itself had written them.
  virtual Status write(std::span<const ExportedValue> values) = 0;
  virtual Status end(const Watermarks& watermarks) = 0;
};

}  // namespace bloomring
