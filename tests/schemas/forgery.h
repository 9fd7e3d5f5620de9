// Records that no builder would write: pieces laid end to end, with a checksum that fits. What a decoder refuses of
// them it refuses by its own rules and not by the checksum.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "schemas/pieces/bytes.h"

namespace bloomring {

class Forgery {
 public:
  Forgery& u8(uint64_t v) {
    return write([&](ByteWriter& w) { w.u8(static_cast<uint8_t>(v)); });
  }
  Forgery& u64(uint64_t v) {
    return write([&](ByteWriter& w) { w.u64(v); });
  }
  Forgery& varint(uint64_t v) {
    return write([&](ByteWriter& w) { w.varint(v); });
  }
  Forgery& bytes(std::string_view v) {
    return write([&](ByteWriter& w) { w.bytes(v); });
  }
  Forgery& raw(std::string_view v) {
    return write([&](ByteWriter& w) { w.raw(v); });
  }
  // The number in one byte more than it needs.
  Forgery& long_varint(uint64_t v) {
    varint(v);
    out_.back() = static_cast<char>(out_.back() | 0x80);
    return u8(0);
  }
  std::string sealed(uint8_t kind) const {
    std::string out = out_;
    seal(out, kind);
    return out;
  }

 private:
  Forgery& write(const std::function<void(ByteWriter&)>& put) {
    ByteWriter writer(out_);
    put(writer);
    return *this;
  }
  std::string out_;
};

// The same body, changed, under a checksum that fits.
inline std::string resealed(std::string bytes, uint8_t kind, const std::function<void(std::string& body)>& change) {
  bytes.resize(bytes.size() - sizeof(uint32_t));
  change(bytes);
  seal(bytes, kind);
  return bytes;
}

// Calls `check` with every record that differs from `good` in one bit, and with everything that it begins with.
inline void for_each_damage(const std::string& good, const std::function<void(const std::string& bad)>& check) {
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    check(bad);
  }
  for (size_t size = 0; size < good.size(); ++size) check(good.substr(0, size));
}

inline std::string key_of(std::string_view scene, std::string_view user) {
  return std::string(UserKey(scene, user).bytes());
}

}  // namespace bloomring
