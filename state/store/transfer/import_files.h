// Imports the files of an export into an empty filter store (state/store/store_import.h).
//
// Guarantees: every file is read and compared with the manifest before the first value is written. The watermarks are
// written last, after every value is durable.
// Errors: kInvalid for an export that is not complete, or of a store of another description; of export_folder.h and
// store_import.h.
// Threading: used by one thread. Memory: one file.
#pragma once

#include <string>

#include "base/result.h"
#include "schemas/store/export_manifest.h"
#include "state/store/store_admin.h"
#include "state/store/transfer/export_folder.h"
#include "state/store/transfer/store_export.h"

namespace bloomring {

// The manifest of a complete export whose files are all sound, for a store of this description.
Result<ExportManifest> verify_export(const ExportFolder& folder, const StoreMeta& configured,
                                     const TransferProgress& progress = {});

// Imports the verified export into the store, which was opened for the import `manifest.export_id`.
Status import_export(const ExportFolder& folder, const ExportManifest& manifest, StoreAdmin& target,
                     const TransferProgress& progress = {});

}  // namespace bloomring
