#include "schemas/store/export_manifest.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/words.h"
#include "tests/schemas/documented_example.h"

using namespace bloomring;

namespace {

ExportManifest sample() {
  ExportManifest manifest;
  manifest.progress = ExportProgress::kComplete;
  manifest.export_id = 77;
  manifest.source = 5;
  manifest.begun_ms = 1'649'316'000'000;
  manifest.slot_ms = 3'600'000;
  manifest.meta = {50, PeriodUnit::kMonth, "UTC"};
  manifest.watermarks[PartitionId(3)].offset = Offset(1000);
  manifest.files = {{ValueKind::kForgotten, 300, 1, 4, 0}, {ValueKind::kFilter, 46, 2, 1, 1}};
  return manifest;
}

}  // namespace

TEST_CASE("export manifest: its bytes are those of the document") {
  CHECK(hex(encode_export_manifest(sample())) == hex(documented_example("Export manifest, version 1")));
}

TEST_CASE("export manifest: what was written is read, and every flipped bit and missing byte is noticed") {
  const std::string bytes = encode_export_manifest(sample());
  CHECK(decode_export_manifest(bytes).value() == sample());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(decode_export_manifest(bad).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    REQUIRE(decode_export_manifest(bytes.substr(0, size)).code() == Code::kCorrupt);
}

TEST_CASE("export manifest: forgotten values after filters, filters too early, and no number are refused") {
  ExportManifest late = sample();
  std::swap(late.files[0], late.files[1]);
  ExportManifest early = sample();
  early.progress = ExportProgress::kForgotten;
  ExportManifest nameless = sample();
  nameless.export_id = 0;
  for (const ExportManifest& bad : {late, early, nameless})
    CHECK(decode_export_manifest(encode_export_manifest(bad)).code() == Code::kCorrupt);
}
