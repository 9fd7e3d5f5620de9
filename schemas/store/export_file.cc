#include "schemas/store/export_file.h"

#include <utility>

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr std::string_view kLabel = "export file";

bool known(ValueKind kind) { return kind == ValueKind::kFilter || kind == ValueKind::kForgotten; }

}  // namespace

ExportFileBuilder::ExportFileBuilder(ValueKind kind, uint64_t export_id, uint32_t number) {
  ByteWriter writer(bytes_);
  writer.u8(kVersion);
  writer.u8(static_cast<uint8_t>(kind));
  writer.u64(export_id);
  writer.u32(number);
}

void ExportFileBuilder::add(std::string_view key, std::string_view value) {
  ByteWriter writer(bytes_);
  writer.bytes(key);
  writer.bytes(value);
  ++values_;
}

std::string ExportFileBuilder::finish() && {
  append_labelled_sum(bytes_, kLabel);
  return std::move(bytes_);
}

Result<ExportFile> decode_export_file(std::string_view bytes) {
  if (bytes.size() <= kLabelledSumBytes) return corrupt("the file is too short");
  const auto body = split_labelled_sum(bytes, kLabel);
  if (!body) return corrupt("its checksum differs");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  if (version > kVersion) {
    return invalid("it has format version " + std::to_string(version) + ", this program knows " +
                   std::to_string(kVersion) + ": use the program that wrote it, or a newer one");
  }
  ExportFile file;
  file.kind = static_cast<ValueKind>(reader.u8());
  file.export_id = reader.u64();
  file.number = reader.u32();
  if (version == 0 || !reader.ok() || !known(file.kind)) return corrupt("it has another form");
  while (!reader.at_end()) {
    const std::string_view key = reader.bytes();
    const std::string_view value = reader.bytes();
    if (!reader.ok() || value.empty() || !key.starts_with(static_cast<char>(file.kind)))
      return corrupt("a value in it has another form");
    BLOOMRING_TRY(parse_user_of(key).status());
    file.values.push_back({key, value});
  }
  return file;
}

}  // namespace bloomring
