// A file of an exported filter store: values of one kind, with their logical keys (schemas/store_key.h), byte for byte
// as the store has them.
//
//   export-file := version kind export number {key value} sum
//   version := u8 = 1
//   kind := u8 = 'g' | 'f'       forgotten values, or filters: the tag of every key in the file
//   export := u64                of the export that the file belongs to (schemas/store/export_manifest.h)
//   number := u32                of the file in it, from 1
//   key := bytes
//   value := bytes
//   sum := u64                   XXH3 of everything before it, seeded with the hash of "export file"
//
// The pieces are those of schemas/pieces/bytes.h.
// Errors: kCorrupt with the reason for bytes that are not such a file; kInvalid when their format is newer.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schemas/store_key.h"

namespace bloomring {

// Borrows both.
struct ExportedValue {
  std::string_view key;
  std::string_view value;
};

struct ExportFile {
  ValueKind kind = ValueKind::kFilter;
  uint64_t export_id = 0;
  uint32_t number = 0;
  std::vector<ExportedValue> values;  // They point into the bytes that were decoded.
};
Result<ExportFile> decode_export_file(std::string_view bytes);

class ExportFileBuilder {
 public:
  ExportFileBuilder(ValueKind kind, uint64_t export_id, uint32_t number);
  void add(std::string_view key, std::string_view value);
  uint64_t values() const { return values_; }
  size_t size() const { return bytes_.size(); }
  // The bytes of the file; nothing may be added after it.
  std::string finish() &&;

 private:
  std::string bytes_;
  uint64_t values_ = 0;
};

}  // namespace bloomring
