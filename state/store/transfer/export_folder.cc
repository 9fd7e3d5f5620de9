#include "state/store/transfer/export_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "schemas/pieces/labelled_sum.h"

namespace bloomring {

namespace {

std::string why() { return std::strerror(errno); }

Status write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fatal(why());
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(file) == 0 ? Status() : fatal(why());
}

Result<std::string> read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return corrupt(path + " is missing");
  std::string bytes(static_cast<size_t>(in.tellg()), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return fatal(path + " cannot be read");
  return bytes;
}

}  // namespace

Result<ExportFolder> ExportFolder::open(const std::string& path, bool make) {
  std::error_code error;
  if (make) std::filesystem::create_directories(path, error);
  if (error) return invalid("the folder " + path + " cannot be made: " + error.message());
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return invalid("the folder " + path + " cannot be opened: " + why());
  ExportFolder folder(path, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return invalid("another process exports to the folder " + path + ", or imports from it");
  return folder;
}

ExportFolder::ExportFolder(ExportFolder&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ExportFolder::~ExportFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::optional<ExportManifest>> ExportFolder::manifest() const {
  const std::string path = path_ + "/manifest";
  if (!std::filesystem::exists(path)) return std::optional<ExportManifest>();
  BLOOMRING_TRY_ASSIGN(const std::string bytes, read_all(path));
  auto decoded = decode_export_manifest(bytes);
  if (!decoded.ok()) return std::move(decoded).status().with_context(path);
  return std::optional(std::move(*decoded));
}

Result<bool> ExportFolder::empty() const {
  std::error_code error;
  const bool empty = std::filesystem::is_empty(path_, error);
  if (error) return invalid("the folder " + path_ + " cannot be read: " + error.message());
  return empty;
}

std::string ExportFolder::path_of(uint32_t number) const {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/values-%06u.brx", number);
  return path_ + name.data();
}

Status ExportFolder::write_file(const std::string& path, std::string_view bytes) const {
  const std::string unfinished = path + ".part";
  const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return fatal(unfinished + " cannot be made: " + why());
  Status written = write_all(file, bytes);
  ::close(file);
  if (written.ok() && (::rename(unfinished.c_str(), path.c_str()) != 0 || ::fsync(descriptor_) != 0))
    written = fatal(why());
  if (written.ok()) return {};
  ::unlink(unfinished.c_str());
  return std::move(written).with_context(
      path + " cannot be written; mend that, and start the command again: it goes on there");
}

Status ExportFolder::write(const ExportManifest& manifest) const {
  return write_file(path_ + "/manifest", encode_export_manifest(manifest));
}

Status ExportFolder::write(uint32_t number, std::string_view bytes) const { return write_file(path_of(number), bytes); }

Result<std::string> ExportFolder::read(const ExportManifest& manifest, uint32_t number, ExportFile& file) const {
  const std::string path = path_of(number);
  const ExportManifest::File& expected = manifest.files.at(number - 1);
  BLOOMRING_TRY_ASSIGN(std::string bytes, read_all(path));
  if (bytes.size() != expected.bytes)
    return corrupt(path + " has " + std::to_string(bytes.size()) + " bytes, and had " +
                   std::to_string(expected.bytes) + " when it was exported");
  auto decoded = decode_export_file(bytes);
  if (!decoded.ok()) return std::move(decoded).status().with_context(path);
  if (decoded->kind != expected.kind || decoded->export_id != manifest.export_id || decoded->number != number ||
      decoded->values.size() != expected.values || labelled_sum_of(bytes) != expected.sum)
    return corrupt(path + " is of another export");
  file = std::move(*decoded);
  return bytes;
}

}  // namespace bloomring
