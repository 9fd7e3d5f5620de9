#include "schemas/store/export_file.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/hash.h"
#include "base/words.h"
#include "schemas/pieces/bytes.h"
#include "tests/schemas/documented_example.h"

using namespace bloomring;

namespace {

std::string u1() { return std::string(UserKey("feed", "u1").bytes()); }

std::string sample() {
  const std::string key = u1();
  ExportFileBuilder builder(ValueKind::kFilter, 77, 1);
  builder.add(filter_key(key, PeriodUnit::kMonth, PeriodIndex(683)), "abc");
  CHECK(builder.values() == 1);
  return std::move(builder).finish();
}

}  // namespace

TEST_CASE("export file: its bytes are those of the document") {
  CHECK(hex(sample()) == hex(documented_example("Export file, version 1")));
}

TEST_CASE("export file: what was added is read, and every flipped bit and missing byte is noticed") {
  const std::string bytes = sample();
  const auto file = decode_export_file(bytes);
  REQUIRE(file.ok());
  CHECK(file->kind == ValueKind::kFilter);
  CHECK(file->export_id == 77);
  CHECK(file->number == 1);
  REQUIRE(file->values.size() == 1);
  CHECK(file->values[0].key == filter_key(u1(), PeriodUnit::kMonth, PeriodIndex(683)));
  CHECK(file->values[0].value == "abc");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(decode_export_file(bad).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    REQUIRE(decode_export_file(bytes.substr(0, size)).code() == Code::kCorrupt);
}

TEST_CASE("export file: a key of the other kind, of nobody, and a newer version are refused") {
  ExportFileBuilder other(ValueKind::kForgotten, 77, 1);
  other.add(filter_key(u1(), PeriodUnit::kMonth, PeriodIndex(683)), "abc");
  CHECK(decode_export_file(std::move(other).finish()).code() == Code::kCorrupt);
  ExportFileBuilder nobody(ValueKind::kFilter, 77, 1);
  nobody.add("fxx", "abc");
  CHECK(decode_export_file(std::move(nobody).finish()).code() == Code::kCorrupt);
  std::string newer = sample();
  newer = "\x02" + newer.substr(1, newer.size() - 9);
  ByteWriter(newer).u64(hash_bytes(newer, hash_bytes("export file", 0)));
  CHECK(decode_export_file(newer).code() == Code::kInvalid);
}
