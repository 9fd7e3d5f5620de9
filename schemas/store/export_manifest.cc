#include "schemas/store/export_manifest.h"

#include <algorithm>
#include <utility>

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr std::string_view kLabel = "export manifest";

Status read_watermarks(ByteReader& reader, ExportManifest& manifest) {
  const uint64_t count = reader.varint();
  if (count > manifest.meta.partition_count) return corrupt("it has more watermarks than partitions");
  int64_t least = 0;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t number = reader.varint();
    const std::string_view bytes = reader.bytes();
    if (!reader.ok() || number >= manifest.meta.partition_count || static_cast<int64_t>(number) < least)
      return corrupt("a watermark in it has another form");
    least = static_cast<int64_t>(number) + 1;
    const PartitionId partition(static_cast<int32_t>(number));
    BLOOMRING_TRY_ASSIGN(manifest.watermarks[partition],
                         decode_watermark(bytes, partition, manifest.meta.partition_count));
    // One coding: a watermark of an older version is not what an export writes.
    if (encode_watermark(manifest.watermarks[partition], partition, manifest.meta.partition_count) != bytes)
      return corrupt("a watermark in it has another form");
  }
  return {};
}

Status read_files(ByteReader& reader, ExportManifest& manifest) {
  const uint64_t count = reader.varint();
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    ExportManifest::File file;
    file.kind = static_cast<ValueKind>(reader.u8());
    file.bytes = reader.varint();
    file.sum = reader.u64();
    file.values = reader.varint();
    file.damaged = reader.varint();
    const bool forgotten = file.kind == ValueKind::kForgotten;
    const bool after_filters = !manifest.files.empty() && manifest.files.back().kind == ValueKind::kFilter;
    const bool in_order = forgotten ? !after_filters
                                    : file.kind == ValueKind::kFilter &&
                                          manifest.progress != ExportProgress::kForgotten;
    if (!in_order || file.damaged > file.values) return corrupt("a file in it has another form");
    manifest.files.push_back(file);
  }
  return {};
}

}  // namespace

uint64_t ExportManifest::values(ValueKind kind) const {
  uint64_t sum = 0;
  for (const File& file : files) sum += file.kind == kind ? file.values : 0;
  return sum;
}

uint64_t ExportManifest::damaged() const {
  uint64_t sum = 0;
  for (const File& file : files) sum += file.damaged;
  return sum;
}

uint64_t ExportManifest::bytes() const {
  uint64_t sum = 0;
  for (const File& file : files) sum += file.bytes;
  return sum;
}

std::string encode_export_manifest(const ExportManifest& manifest) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u8(static_cast<uint8_t>(manifest.progress));
  writer.u64(manifest.export_id);
  writer.u64(manifest.source);
  writer.u64(static_cast<uint64_t>(manifest.begun_ms));
  writer.u64(static_cast<uint64_t>(manifest.slot_ms));
  writer.bytes(encode_store_meta(manifest.meta));
  writer.varint(manifest.watermarks.size());
  for (const auto& [partition, watermark] : manifest.watermarks) {
    writer.varint(static_cast<uint64_t>(partition.value));
    writer.bytes(encode_watermark(watermark, partition, manifest.meta.partition_count));
  }
  writer.varint(manifest.files.size());
  for (const ExportManifest::File& file : manifest.files) {
    writer.u8(static_cast<uint8_t>(file.kind));
    writer.varint(file.bytes);
    writer.u64(file.sum);
    writer.varint(file.values);
    writer.varint(file.damaged);
  }
  append_labelled_sum(bytes, kLabel);
  return bytes;
}

Result<ExportManifest> decode_export_manifest(std::string_view bytes) {
  if (bytes.size() <= kLabelledSumBytes) return corrupt("the manifest is too short");
  const auto body = split_labelled_sum(bytes, kLabel);
  if (!body) return corrupt("the checksum of the manifest differs");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  if (version > kVersion) {
    return invalid("the export has format version " + std::to_string(version) + ", this program knows " +
                   std::to_string(kVersion) + ": use the program that wrote it, or a newer one");
  }
  ExportManifest manifest;
  const uint8_t progress = reader.u8();
  manifest.progress = static_cast<ExportProgress>(progress);
  manifest.export_id = reader.u64();
  manifest.source = reader.u64();
  manifest.begun_ms = static_cast<int64_t>(reader.u64());
  manifest.slot_ms = static_cast<int64_t>(reader.u64());
  const std::string_view description = reader.bytes();
  const bool possible = progress <= static_cast<uint8_t>(ExportProgress::kComplete) && manifest.export_id != 0 &&
                        manifest.begun_ms >= 0 && manifest.slot_ms >= 0;
  if (version == 0 || !reader.ok() || !possible) return corrupt("the manifest has another form");
  BLOOMRING_TRY_ASSIGN(manifest.meta, decode_store_meta(description));
  if (encode_store_meta(manifest.meta) != description || manifest.meta.import_id != 0)
    return corrupt("the manifest has another form");
  BLOOMRING_TRY(read_watermarks(reader, manifest));
  BLOOMRING_TRY(read_files(reader, manifest));
  if (!reader.ok() || !reader.at_end()) return corrupt("the manifest has another form");
  return manifest;
}

}  // namespace bloomring
