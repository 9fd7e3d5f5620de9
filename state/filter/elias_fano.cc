#include "state/filter/elias_fano.h"

#include <algorithm>

#include "state/filter/bits.h"

namespace bloomring::filter {

EliasFanoShape elias_fano_shape(uint64_t items, uint32_t width_bits) {
  const uint32_t high_bits = std::min(width_bits, ceil_log2(items));
  EliasFanoShape shape;
  shape.low_bits = width_bits - high_bits;
  shape.buckets = uint64_t{1} << high_bits;
  shape.lows_bytes = bytes_of_bits(items * shape.low_bits);
  shape.uppers_bytes = bytes_of_bits(items + shape.buckets);
  return shape;
}

namespace {

// Writes values of a fixed number of bits side by side.
class BitWriter {
 public:
  explicit BitWriter(uint8_t* at) : at_(at) {}

  // `bits` <= kWidthBitsMax; at most 7 bits are pending, so 64 suffice.
  void put(uint64_t value, uint32_t bits) {
    pending_ |= value << pending_bits_;
    pending_bits_ += bits;
    while (pending_bits_ >= 8) {
      *at_++ = static_cast<uint8_t>(pending_);
      pending_ >>= 8;
      pending_bits_ -= 8;
    }
  }
  void finish() {
    if (pending_bits_ > 0) *at_ = static_cast<uint8_t>(pending_);
  }

 private:
  uint8_t* at_;
  uint64_t pending_ = 0;
  uint32_t pending_bits_ = 0;
};

}  // namespace

void elias_fano_append(std::span<const uint64_t> set, uint32_t width_bits, std::string& out) {
  const EliasFanoShape shape = elias_fano_shape(set.size(), width_bits);
  const size_t start = out.size();
  out.resize(start + shape.bytes(), '\0');
  auto* lows = reinterpret_cast<uint8_t*>(out.data()) + start;
  auto* uppers = lows + shape.lows_bytes;

  BitWriter writer(lows);
  const uint64_t mask = low_mask(shape.low_bits);
  for (size_t i = 0; i < set.size(); ++i) {
    writer.put(set[i] & mask, shape.low_bits);
    const uint64_t bit = (set[i] >> shape.low_bits) + i;
    uppers[bit >> 3] = static_cast<uint8_t>(uppers[bit >> 3] | 1u << (bit & 7));
  }
  writer.finish();
}

uint64_t EliasFanoView::low(uint64_t i) const {
  const uint64_t bit = i * shape.low_bits;
  return load64(lows + (bit >> 3), end) >> (bit & 7) & low_mask(shape.low_bits);
}

namespace {

// True when all bits of the bytes from bit `used_bits` on are zero.
bool padding_is_zero(const uint8_t* bytes, uint64_t byte_count, uint64_t used_bits) {
  return byte_count == 0 || used_bits % 8 == 0 || bytes[byte_count - 1] >> (used_bits % 8) == 0;
}

}  // namespace

Status elias_fano_decode(const EliasFanoView& view, Fingerprints& out) {
  const EliasFanoShape& shape = view.shape;
  if (!padding_is_zero(view.lows, shape.lows_bytes, view.items * shape.low_bits) ||
      !padding_is_zero(view.uppers, shape.uppers_bytes, view.items + shape.buckets)) {
    return corrupt("padding of a fingerprint set is not zero");
  }
  const size_t start = out.size();
  out.resize(start + view.items);  // The uppers hold a bit for each item, so the input justifies this.
  uint64_t* const fingerprints = out.data() + start;
  const uint8_t* const uppers_end = view.uppers + shape.uppers_bytes;
  uint64_t count = 0;
  uint64_t descents = 0;
  uint64_t last = 0;
  for (uint64_t base = 0; base < shape.uppers_bytes * 8; base += 64) {
    uint64_t word = load64(view.uppers + base / 8, uppers_end);
    if (count + static_cast<uint64_t>(std::popcount(word)) > view.items) return corrupt("a fingerprint set holds more items than it says");
    for (; word != 0; word &= word - 1) {
      const uint64_t bucket = base + static_cast<uint64_t>(std::countr_zero(word)) - count;
      const uint64_t fingerprint = bucket << shape.low_bits | view.low(count);
      descents += static_cast<uint64_t>(count > 0 && fingerprint <= last);
      fingerprints[count++] = last = fingerprint;
    }
  }
  if (count != view.items) return corrupt("a fingerprint set holds fewer items than it says");
  if (descents != 0) return corrupt("a fingerprint set is not in ascending order");
  if (last >> view.width_bits != 0) return corrupt("a fingerprint is wider than the set says");
  return {};
}

}  // namespace bloomring::filter
