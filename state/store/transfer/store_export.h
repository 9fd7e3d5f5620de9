// Exports a filter store to files, while others merge into it.
//
//     generation, watermarks --> forgotten values --> filters --> generation again --> complete
//
// This order makes the export one from which the pipeline can go on by the log:
//
//   no play is lost     The watermarks are read first. So the values cover at least what the watermarks cover. The
//                       log has the rest; what is merged twice is united twice.
//   no forgotten item comes back
//                       A user's forgotten value is read before the user's filters. A forget that is missing in it is
//                       above the watermark: merge reads it again, finds it new, and then removes or masks the filters,
//                       with the plays that it is about. The other order would lose it: a forgotten value that is newer
//                       than a filter hides no play in it, and merge, finding nothing new, would remove nothing. Merge
//                       may also remove a play that came after the forget; that play is above the watermark, too, and
//                       is merged again.
//
// An export that was stopped goes on behind its last complete file, in the same order. The generation tells that the
// store has not gone back meanwhile (state/store/store_admin.h).
// Guarantees: a complete export has every value that was in the store when it began, each once.
// Errors: those of the store; of export_folder.h; kInvalid for a folder with something else, with a complete export, or
// with an unfinished one of another source.
// Threading: used by one thread. Memory: one file, and 16 bytes for each value that was exported before a resumption.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "schemas/store/export_manifest.h"
#include "state/store/filter_reader.h"
#include "state/store/store_admin.h"

namespace bloomring {

struct ExportSource {
  FilterReader& reader;  // Refreshed.
  StoreAdmin& admin;
  StoreMeta meta;
  int64_t slot_ms = 0;
};

using TransferProgress = std::function<void(const ExportManifest&)>;  // After each file.

struct ExportOptions {
  std::string folder;
  int64_t now_ms = 0;      // When the export begins.
  uint64_t export_id = 0;  // Random, not 0: of an export that begins.
  // A file ends with the value that makes it as large.
  uint64_t file_bytes = 64 << 20;
  TransferProgress progress = {};
};

// The complete manifest.
Result<ExportManifest> export_store(const ExportSource& source, const ExportOptions& options);

}  // namespace bloomring
