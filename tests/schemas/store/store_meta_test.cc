#include "schemas/store/store_meta.h"

#include <catch2/catch.hpp>
#include <string>

using namespace bloomring;

namespace {

StoreMeta berlin() { return {50, PeriodUnit::kWeek, "Europe/Berlin"}; }

}  // namespace

TEST_CASE("store meta: its bytes are golden, every flipped bit and missing byte is noticed") {
  const std::string bytes = encode_store_meta(berlin());
  CHECK(bytes.substr(0, 20) == std::string("\x02\x32\x00\x00\x00w\x0d" "Europe/Berlin", 20));
  CHECK(decode_store_meta(bytes).value() == berlin());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(decode_store_meta(bad).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(decode_store_meta(bytes.substr(0, size)).code() == Code::kCorrupt);
  }
  CHECK(decode_store_meta(bytes + "x").code() == Code::kCorrupt);
}

TEST_CASE("store meta: version 1, which names no period, is read") {
  const std::string bytes("\x01\x32\x00\x00\x00\x4f\x5a\x28\x33\x95\x1e\x93\x9e", 13);
  CHECK(decode_store_meta(bytes).value() == StoreMeta{50, PeriodUnit::kMonth, ""});
}

TEST_CASE("store meta: version 3 names the import that has not ended, and version 2 names none") {
  StoreMeta importing = berlin();
  importing.import_id = 77;
  const std::string bytes = encode_store_meta(importing);
  CHECK(bytes.substr(0, 28) == std::string("\x03\x32\x00\x00\x00w\x0d" "Europe/Berlin" "\x4d\0\0\0\0\0\0\0", 28));
  CHECK(decode_store_meta(bytes).value() == importing);
}
