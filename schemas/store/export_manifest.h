// The description of an exported filter store: its files, and the watermarks that the values in them cover at least.
//
//   export-manifest := version progress export source begun slot description watermarks files sum
//   version := u8 = 1
//   progress := u8               0: forgotten values are being exported; 1: they are complete, and filters are being
//                                exported; 2: the export is complete
//   export := u64                random: no two exports have the same
//   source := u64                the generation of the source (StoreAdmin::generation) when the export began
//   begun := u64                 Unix milliseconds, before the first value was read
//   slot := u64                  milliseconds; the length of slots of the source
//   description := bytes         of the store (schemas/store/store_meta.h)
//   watermarks := count:varint {partition:varint watermark:bytes}       ascending (schemas/watermark.h)
//   files := count:varint {kind:u8 size:varint sum:u64 values:varint damaged:varint}
//   sum := u64                   XXH3 of everything before it, seeded with the hash of "export manifest"
//
// The first file has number 1. `sum` of a file is the one at its end. Forgotten values come first: a filter is never
// older than the forgotten value that goes with it (state/store/transfer/store_export.h says why).
// Errors: kCorrupt with the reason for bytes that are no manifest; kInvalid when their format is newer.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/store/store_meta.h"
#include "schemas/store_key.h"
#include "schemas/watermark.h"

namespace bloomring {

enum class ExportProgress : uint8_t { kForgotten = 0, kFilters = 1, kComplete = 2 };

struct ExportManifest {
  struct File {
    ValueKind kind = ValueKind::kFilter;
    uint64_t bytes = 0;
    uint64_t sum = 0;
    uint64_t values = 0;
    uint64_t damaged = 0;  // Of the values: exported as they are.
    bool operator==(const File&) const = default;
  };

  ExportProgress progress = ExportProgress::kForgotten;
  uint64_t export_id = 0;  // Not 0.
  uint64_t source = 0;
  int64_t begun_ms = 0;
  int64_t slot_ms = 0;
  StoreMeta meta;
  std::map<PartitionId, MergedWatermark> watermarks;
  std::vector<File> files;

  uint64_t values(ValueKind kind) const;
  uint64_t damaged() const;
  uint64_t bytes() const;
  bool operator==(const ExportManifest&) const = default;
};

std::string encode_export_manifest(const ExportManifest& manifest);
Result<ExportManifest> decode_export_manifest(std::string_view bytes);

}  // namespace bloomring
