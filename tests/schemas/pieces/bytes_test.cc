#include "schemas/pieces/bytes.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/schemas/documented_example.h"

using namespace bloomring;

namespace {

std::string varint_of(uint64_t value) {
  std::string out;
  ByteWriter(out).varint(value);
  return out;
}

}  // namespace

TEST_CASE("bytes: a varint has seven bits a byte, low bits first, in its shortest form") {
  CHECK(hex(varint_of(0)) == "00");
  CHECK(hex(varint_of(127)) == "7f");
  CHECK(hex(varint_of(128)) == "8001");
  CHECK(hex(varint_of(300)) == "ac02");
  CHECK(hex(varint_of(UINT64_MAX)) == "ffffffffffffffffff01");
  std::vector<uint64_t> values = {0, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t around : {uint64_t{0}, uint64_t{1}, UINT64_MAX})
      values.push_back((uint64_t{1} << bit) + around);
  }
  for (const uint64_t value : values) {
    const std::string bytes = varint_of(value);
    ByteReader reader(bytes);
    REQUIRE(reader.varint() == value);
    REQUIRE(reader.ok());
    REQUIRE(reader.at_end());
  }
}

TEST_CASE("bytes: a varint that is cut short, longer than needed or beyond 64 bits is refused") {
  const std::vector<std::string> bad = {"",
                                        "\x80",
                                        "\xff\xff",
                                        std::string("\x80\x00", 2),
                                        std::string("\xff\x80\x00", 3),
                                        std::string(9, '\x80') + '\x00',
                                        std::string(9, '\xff') + '\x02',
                                        std::string(9, '\xff') + '\x81' + '\x00',
                                        std::string(11, '\x80') + '\x01'};
  for (const std::string& bytes : bad) {
    INFO(hex(bytes));
    ByteReader reader(bytes);
    CHECK(reader.varint() == 0);
    CHECK_FALSE(reader.ok());
  }
}

TEST_CASE("bytes: numbers are little-endian, and what stands behind the end is nothing") {
  std::string out;
  ByteWriter writer(out);
  writer.u8(1);
  writer.u32(0x05040302);
  writer.u64(0x0d0c0b0a09080706);
  writer.bytes("ab");
  CHECK(hex(out) ==
        "01"
        "02030405"
        "060708090a0b0c0d"
        "02"
        "6162");
  ByteReader reader(out);
  CHECK(reader.u8() == 1);
  CHECK(reader.u32() == 0x05040302);
  CHECK(reader.u64() == 0x0d0c0b0a09080706);
  CHECK(reader.bytes() == "ab");
  CHECK(reader.at_end());
  CHECK(reader.ok());
  CHECK(reader.u8() == 0);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("bytes: after its first failure a reader gives nothing more") {
  const std::string bytes(
      "\x09"
      "abc\x01\x02",
      6);  // Nine bytes are announced, five are there.
  ByteReader reader(bytes);
  CHECK(reader.bytes().empty());
  CHECK_FALSE(reader.ok());
  CHECK(reader.left() == 0);
  CHECK(reader.u8() == 0);
  CHECK(reader.u32() == 0);
  CHECK(reader.u64() == 0);
  CHECK(reader.varint() == 0);
  CHECK(reader.raw(1).empty());
  CHECK_FALSE(reader.ok());
}

TEST_CASE("bytes: a length near 2^64 is no way past the end") {
  std::string bytes;
  ByteWriter(bytes).varint(UINT64_MAX);
  bytes += "abc";
  ByteReader reader(bytes);
  CHECK(reader.bytes().empty());
  CHECK_FALSE(reader.ok());
}

TEST_CASE("bytes: a checksum belongs to its format: under another kind it is wrong") {
  std::string bytes = "abc";
  seal(bytes, 1);
  std::string_view body;
  CHECK(open_sealed(bytes, 1, &body));
  CHECK(body == "abc");
  CHECK_FALSE(open_sealed(bytes, 2, &body));
  CHECK_FALSE(open_sealed("abc", 1, &body));
  CHECK_FALSE(open_sealed("", 1, &body));
}
