#include "state/store_meta.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("store meta: its bytes are golden, every flipped bit and missing byte is noticed") {
  const std::string bytes = encode_store_meta(50);
  CHECK(bytes == std::string("\x01\x32\x00\x00\x00\x4f\x5a\x28\x33\x95\x1e\x93\x9e", 13));
  CHECK(check_store_meta(bytes, 50).ok());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(check_store_meta(bad, 50).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(check_store_meta(bytes.substr(0, size), 50).code() == Code::kCorrupt);
  }
  CHECK(check_store_meta(bytes + "x", 50).code() == Code::kCorrupt);
}

TEST_CASE("store meta: another partition count is invalid, with what to do") {
  const Status status = check_store_meta(encode_store_meta(50), 100);
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("50 partitions") && Catch::Contains("100"));
}
