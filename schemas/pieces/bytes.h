// Writes and reads the basic pieces of every record format: little-endian integers, LEB128 varints, length-prefixed
// bytes, and the checksum at the end. docs/formats.md names them u8, u32, u64, varint, bytes, sum.
//
// The reader is strict and never reads past its input: after the first failure every further read gives zero or an
// empty string, and `ok()` stays false, so a decoder checks once at the end of a group of fields.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace bloomring {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void u8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void u32(uint32_t v) { append(&v, sizeof v); }
  void u64(uint64_t v) { append(&v, sizeof v); }
  // At most 10 bytes, 7 bits each, low bits first, the shortest form.
  void varint(uint64_t v) {
    while (v >= 0x80) {
      u8(static_cast<uint8_t>(v | 0x80));
      v >>= 7;
    }
    u8(static_cast<uint8_t>(v));
  }
  void raw(std::string_view bytes) { out_.append(bytes); }
  void bytes(std::string_view b) {
    varint(b.size());
    out_.append(b);
  }

 private:
  // The machines that we build for are little-endian; the static assertion below checks it.
  void append(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  std::string& out_;
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "formats are little-endian: add byte swaps for this machine");

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : at_(in.data()), end_(in.data() + in.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint8_t u8() { return fixed<uint8_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  // Refuses a number that is cut short, longer than 64 bits or not in the shortest form.
  uint64_t varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return long_varint();
  }
  std::string_view raw(uint64_t size) {
    if (size > left()) return fail_bytes();
    const std::string_view bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }
  std::string_view bytes() { return raw(varint()); }

 private:
  template <typename T>
  T fixed() {
    T value{};
    if (left() < sizeof value) {
      fail_bytes();
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t long_varint();
  std::string_view fail_bytes() {
    ok_ = false;
    at_ = end_;
    return {};
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

// The low 32 bits of XXH3 over `bytes`, seeded with the format's kind, so that one format never passes for another.
uint32_t checksum(std::string_view bytes, uint8_t kind);

// Appends the checksum of everything in `out`.
void seal(std::string& out, uint8_t kind);

// Sets `body` to the bytes before the checksum. False when they are too short or the checksum differs.
bool open_sealed(std::string_view bytes, uint8_t kind, std::string_view* body);

}  // namespace bloomring
