#include "state/store/transfer/store_export.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "filter/filter.h"
#include "schemas/damaged_value.h"
#include "schemas/forgotten.h"
#include "schemas/pieces/labelled_sum.h"
#include "state/store/check_store_meta.h"
#include "state/store/transfer/export_folder.h"

namespace bloomring {

namespace {

constexpr std::string_view kNotEnded =
    "the export has not ended (run it again when this is mended; it goes on behind its last file)";

Result<Watermarks> read_watermarks(const ExportSource& source) {
  Watermarks all;
  for (uint32_t p = 0; p < source.meta.partition_count; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    BLOOMRING_TRY_ASSIGN(std::optional<MergedWatermark> one, source.reader.read_watermark(partition));
    if (one) all[partition] = std::move(*one);
  }
  return all;
}

Status check_value(std::string_view key, std::string_view value) {
  BLOOMRING_TRY(check_stored(value, key));
  if (key.starts_with(kForgottenKeyTag)) return decode_forgotten(value, key).status();
  return filter::summarize(value, key).status();
}

// Keys by 128 bits of hash.
class KeySet {
 public:
  void add(std::string_view key) { keys_.push_back(digest(key)); }
  void sort() { std::ranges::sort(keys_); }
  bool contains(std::string_view key) const {
    return !keys_.empty() && std::ranges::binary_search(keys_, digest(key));
  }

 private:
  using Digest = std::pair<uint64_t, uint64_t>;
  static Digest digest(std::string_view key) { return {hash_bytes(key, 0), hash_bytes(key, 1)}; }
  std::vector<Digest> keys_;
};

class Export {
 public:
  Export(const ExportSource& source, const ExportOptions& options, ExportFolder folder)
      : source_(source), options_(options), folder_(std::move(folder)) {}

  Status begin();
  Status run(ValueKind kind, ExportProgress next);
  Status check_source() const;
  ExportManifest take() { return std::move(manifest_); }

 private:
  Status resume(ExportManifest manifest);
  Result<KeySet> exported(ValueKind kind) const;
  Status take(ValueKind kind, std::string_view key, std::string_view value);
  Status close(ValueKind kind);

  const ExportSource& source_;
  const ExportOptions& options_;
  const ExportFolder folder_;
  ExportManifest manifest_;
  std::optional<ExportFileBuilder> file_;
  uint64_t damaged_ = 0;  // In file_.
};

Status Export::begin() {
  BLOOMRING_TRY_ASSIGN(std::optional<ExportManifest> found, folder_.manifest());
  if (found) return resume(std::move(*found));
  BLOOMRING_TRY_ASSIGN(const bool empty, folder_.empty());
  if (!empty)
    return invalid("the folder " + options_.folder + " holds something else than an export: name another one");
  manifest_.export_id = options_.export_id;
  manifest_.begun_ms = options_.now_ms;
  manifest_.slot_ms = source_.slot_ms;
  manifest_.meta = source_.meta;
  BLOOMRING_TRY_ASSIGN(manifest_.source, source_.admin.generation());
  BLOOMRING_TRY_ASSIGN(manifest_.watermarks, read_watermarks(source_));
  return folder_.write(manifest_);
}

Status Export::resume(ExportManifest manifest) {
  manifest_ = std::move(manifest);
  if (manifest_.progress == ExportProgress::kComplete)
    return invalid("the folder " + options_.folder + " holds a complete export: name another one");
  BLOOMRING_TRY(compare_store_meta(manifest_.meta, source_.meta).with_context("the export in " + options_.folder));
  BLOOMRING_TRY(check_source());
  BLOOMRING_TRY_ASSIGN(const Watermarks now, read_watermarks(source_));
  for (const auto& [partition, exported] : manifest_.watermarks) {
    const auto current = now.find(partition);
    if (current != now.end() && current->second.offset >= exported.offset) continue;
    return invalid("the watermark of partition " + std::to_string(partition.value) +
                   " went back since the export in " + options_.folder +
                   " began: remove that folder, and export from the beginning");
  }
  log_info("an export goes on", {{"folder", options_.folder}, {"files", manifest_.files.size()}});
  return {};
}

Status Export::check_source() const {
  BLOOMRING_TRY_ASSIGN(const uint64_t now, source_.admin.generation());
  if (now == manifest_.source) return {};
  return invalid("the filter store is another one than when the export in " + options_.folder +
                 " began, has another log, or may have lost writes (other servers or another merge process): remove "
                 "that folder, and export from the beginning");
}

Result<KeySet> Export::exported(ValueKind kind) const {
  KeySet keys;
  for (uint32_t number = 1; number <= manifest_.files.size(); ++number) {
    if (manifest_.files[number - 1].kind != kind) continue;
    ExportFile file;
    BLOOMRING_TRY_ASSIGN(const std::string bytes, folder_.read(manifest_, number, file));
    for (const ExportedValue& value : file.values) keys.add(value.key);
  }
  keys.sort();
  return keys;
}

Status Export::run(ValueKind kind, ExportProgress next) {
  if (manifest_.progress >= next) return {};
  BLOOMRING_TRY_ASSIGN(const KeySet before, exported(kind));
  const auto wanted = [&](std::string_view key) { return !before.contains(key); };
  const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
    BLOOMRING_TRY(take(kind, key, value));
    return true;
  };
  BLOOMRING_TRY(source_.admin.walk(kind, wanted, visit));
  BLOOMRING_TRY(close(kind));
  BLOOMRING_TRY(check_source());
  if (next == ExportProgress::kComplete) BLOOMRING_TRY(source_.admin.check_holds(manifest_.watermarks));
  manifest_.progress = next;
  return folder_.write(manifest_);
}

Status Export::take(ValueKind kind, std::string_view key, std::string_view value) {
  BLOOMRING_TRY(parse_user_of(key).status());
  if (!file_) file_.emplace(kind, manifest_.export_id, static_cast<uint32_t>(manifest_.files.size() + 1));
  if (const Status sound = check_value(key, value); !sound.ok()) {
    ++damaged_;
    log_warning("a damaged value is exported as it is", {{"reason", sound.message()}});
  }
  file_->add(key, value);
  return file_->size() < options_.file_bytes ? Status() : close(kind);
}

Status Export::close(ValueKind kind) {
  if (!file_) return {};
  ExportManifest::File file{.kind = kind, .values = file_->values(), .damaged = std::exchange(damaged_, 0)};
  const std::string bytes = std::move(*file_).finish();
  file_.reset();
  file.bytes = bytes.size();
  file.sum = labelled_sum_of(bytes);
  BLOOMRING_TRY(folder_.write(static_cast<uint32_t>(manifest_.files.size() + 1), bytes));
  manifest_.files.push_back(file);
  BLOOMRING_TRY(folder_.write(manifest_));
  if (options_.progress) options_.progress(manifest_);
  return {};
}

}  // namespace

Result<ExportManifest> export_store(const ExportSource& source, const ExportOptions& options) {
  BLOOMRING_TRY_ASSIGN(ExportFolder folder, ExportFolder::open(options.folder, /*make=*/true));
  Export work(source, options, std::move(folder));
  BLOOMRING_TRY(work.begin());
  Status done = work.run(ValueKind::kForgotten, ExportProgress::kFilters);
  if (done.ok()) done = work.run(ValueKind::kFilter, ExportProgress::kComplete);
  if (done.code() == Code::kRetry) done = std::move(done).with_context(kNotEnded);
  BLOOMRING_TRY(std::move(done));
  return work.take();
}

}  // namespace bloomring
