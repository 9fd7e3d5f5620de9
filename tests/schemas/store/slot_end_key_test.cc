#include "schemas/store/slot_end_key.h"

#include <catch2/catch.hpp>

#include "base/words.h"
#include "schemas/store_key.h"
#include "tests/schemas/documented_example.h"

using namespace bloomring;

namespace {
constexpr SumKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
}

TEST_CASE("slot end key: it is written as documented, and read back") {
  const std::string bytes = encode_slot_end_key(kKey);
  CHECK(hex(bytes) == hex(documented_example("Key of slot ends, version 1")));
  CHECK(decode_slot_end_key(bytes).value() == kKey);
}

TEST_CASE("slot end key: bytes with any bit changed, cut or added are no key") {
  const std::string good = encode_slot_end_key(kKey);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CHECK(decode_slot_end_key(bad).code() == Code::kCorrupt);
  }
  CHECK(decode_slot_end_key(good.substr(1)).code() == Code::kCorrupt);
  CHECK(decode_slot_end_key(good + "x").code() == Code::kCorrupt);
  CHECK(decode_slot_end_key("").code() == Code::kCorrupt);
}

TEST_CASE("slot end key: its place in a store is no filter's, forget's or watermark's") {
  CHECK(kSlotEndKeyKey == "k");
  CHECK_FALSE(parse_filter_key(kSlotEndKeyKey).ok());
  CHECK_FALSE(parse_forgotten_key(kSlotEndKeyKey).ok());
  CHECK_FALSE(parse_watermark_key(kSlotEndKeyKey).ok());
}
