// The folder of an export: `manifest` (schemas/store/export_manifest.h) and the files `values-000001.brx` and so on
// (schemas/store/export_file.h).
//
// Guarantees: a written file is complete and durable under its name, or not there; so a manifest never names a file
// that is not there. One process at a time has the folder.
// Errors: kInvalid for a folder that cannot be used or another process has, kFatal for a disk that is full or fails,
// kCorrupt with the name of a file that is missing or damaged.
// Threading: used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schemas/store/export_file.h"
#include "schemas/store/export_manifest.h"

namespace bloomring {

class ExportFolder {
 public:
  // `make`: makes the folder where there is none.
  static Result<ExportFolder> open(const std::string& path, bool make);
  ExportFolder(ExportFolder&& other) noexcept;
  ExportFolder(const ExportFolder&) = delete;
  ~ExportFolder();

  // Nothing when there is none.
  Result<std::optional<ExportManifest>> manifest() const;
  // True when nothing is in the folder.
  Result<bool> empty() const;
  Status write(const ExportManifest& manifest) const;
  Status write(uint32_t number, std::string_view bytes) const;
  // The bytes of a file of the manifest, compared with it. `file` gets its values, which point into them.
  Result<std::string> read(const ExportManifest& manifest, uint32_t number, ExportFile& file) const;

 private:
  ExportFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_of(uint32_t number) const;
  Status write_file(const std::string& path, std::string_view bytes) const;

  std::string path_;
  int descriptor_;  // Of the folder, locked.
};

}  // namespace bloomring
