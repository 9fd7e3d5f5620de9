#include "state/store/transfer/import_files.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "state/store/check_store_meta.h"

namespace bloomring {

namespace {

constexpr uint64_t kBatchBytes = 4 << 20;
constexpr size_t kBatchValuesMax = 4096;
constexpr std::string_view kNotEnded =
    "the import has not ended (run it again when this is mended; stages refuse the store until then)";

// Values from `from` on that are written at once: at least one.
std::span<const ExportedValue> batch_at(const ExportFile& file, size_t from) {
  uint64_t bytes = 0;
  size_t count = 0;
  while (from + count < file.values.size() && count < kBatchValuesMax && bytes < kBatchBytes)
    bytes += file.values[from + count++].value.size();
  return std::span(file.values).subspan(from, count);
}

Status import_file(const ExportFile& file, StoreImport& import) {
  for (size_t from = 0; from < file.values.size();) {
    const auto batch = batch_at(file, from);
    BLOOMRING_TRY(import.write(batch));
    from += batch.size();
  }
  return {};
}

Status import_all(const ExportFolder& folder, const ExportManifest& manifest, StoreImport& import,
                  const TransferProgress& progress) {
  for (uint32_t number = 1; number <= manifest.files.size(); ++number) {
    ExportFile file;
    BLOOMRING_TRY_ASSIGN(const std::string bytes, folder.read(manifest, number, file));
    BLOOMRING_TRY(import_file(file, import));
    if (progress) progress(manifest);
  }
  return import.end(manifest.watermarks);
}

}  // namespace

Result<ExportManifest> verify_export(const ExportFolder& folder, const StoreMeta& configured,
                                     const TransferProgress& progress) {
  BLOOMRING_TRY_ASSIGN(std::optional<ExportManifest> found, folder.manifest());
  if (!found) return invalid("the folder holds no export: there is no file `manifest`");
  if (found->progress != ExportProgress::kComplete)
    return invalid("the export is not complete: run the same `bloomring store export` again");
  BLOOMRING_TRY(compare_store_meta(found->meta, configured).with_context("the exported store"));
  for (uint32_t number = 1; number <= found->files.size(); ++number) {
    ExportFile file;
    BLOOMRING_TRY_ASSIGN(const std::string bytes, folder.read(*found, number, file));
    if (progress) progress(*found);
  }
  return std::move(*found);
}

Status import_export(const ExportFolder& folder, const ExportManifest& manifest, StoreAdmin& target,
                     const TransferProgress& progress) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<StoreImport> import, target.begin_import(manifest.watermarks));
  return import_all(folder, manifest, *import, progress).with_context(kNotEnded);
}

}  // namespace bloomring
