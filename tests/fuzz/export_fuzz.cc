// Any bytes as a file of an export, and as its manifest: refused with a reason, or what the encoder would have written.
#include "base/result.h"
#include "schemas/store/export_file.h"
#include "schemas/store/export_manifest.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

namespace {

void check_refusal(const Status& status) {
  BLOOMRING_CHECK(status.code() == Code::kCorrupt || status.code() == Code::kInvalid, "refused as one of two");
  BLOOMRING_CHECK(!status.message().empty(), "refused with a reason");
}

void check_file(std::string_view bytes) {
  const auto file = decode_export_file(bytes);
  if (!file.ok()) return check_refusal(file.status());
  ExportFileBuilder builder(file->kind, file->export_id, file->number);
  for (const ExportedValue& value : file->values) builder.add(value.key, value.value);
  BLOOMRING_CHECK(std::move(builder).finish() == bytes, "a file has exactly one coding");
}

void check_manifest(std::string_view bytes) {
  const auto manifest = decode_export_manifest(bytes);
  if (!manifest.ok()) return check_refusal(manifest.status());
  BLOOMRING_CHECK(encode_export_manifest(*manifest) == bytes, "a manifest has exactly one coding");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_file(input);
  check_file(summed(input, "export file"));
  check_manifest(input);
  check_manifest(summed(input, "export manifest"));
  return 0;
}
