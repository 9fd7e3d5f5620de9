#include "filter/format.h"

#include <cmath>

#include "base/hash.h"
#include "filter/bits.h"
#include "filter/fingerprints.h"
#include "filter/kernels.h"

namespace bloomring::filter {

uint32_t checksum_of(std::string_view bytes, std::string_view store_key) {
  return static_cast<uint32_t>(hash_bytes(bytes, hash_bytes(store_key, 0)));
}

double error_of(uint64_t narrow_items, uint32_t narrow_width_bits, uint64_t wide_items, uint32_t wide_width_bits) {
  return std::ldexp(static_cast<double>(narrow_items), -static_cast<int>(narrow_width_bits)) +
         std::ldexp(static_cast<double>(wide_items), -static_cast<int>(wide_width_bits));
}

double View::expected_error() const { return error_of(narrow.items, narrow.width_bits, wide.items, wide.width_bits); }

namespace {

void append_set_header(uint64_t items, uint32_t width_bits, std::string& out) {
  out.push_back(static_cast<char>(width_bits));
  for (; items >= 0x80; items >>= 7) out.push_back(static_cast<char>(items | 0x80));
  out.push_back(static_cast<char>(items));
}

// The coding of a set that is not empty.
void append_set(std::span<const uint64_t> set, uint32_t width_bits, std::string& out) {
  const EliasFanoShape shape = elias_fano_shape(set.size(), width_bits);
  const size_t start = out.size();
  out.resize(start + shape.bytes(), '\0');
  auto* const lows = reinterpret_cast<uint8_t*>(out.data()) + start;
  best_kernels().encode(set.data(), set.size(), shape, lows, lows + shape.lows_bytes);
}

// Appends the fingerprints to `out`, or returns the fault of the coding.
Status decode_set(const EliasFanoView& view, Fingerprints& out) {
  const size_t start = out.size();
  out.resize(start + view.items);  // The uppers hold a bit for each item, so the input justifies this.
  return elias_fano_status(best_kernels().decode(view, out.data() + start));
}

// Bytes of a set; of one in the dense form with its directory.
uint64_t bytes_of_set(uint64_t items, uint32_t width_bits, bool dense) {
  if (items == 0) return 0;
  const EliasFanoShape shape = elias_fano_shape(items, width_bits);
  return shape.bytes() + (dense ? shape.directory_bytes : 0);
}
uint64_t dense_bytes(uint64_t items, uint32_t width_bits) { return bytes_of_set(items, width_bits, true); }

uint64_t set_header_bytes(uint64_t items) {
  if (items == 0) return 0;
  uint64_t bytes = 2;  // The width, and the last byte of the count.
  for (; items >= 0x80; items >>= 7) ++bytes;
  return bytes;
}

PartSizes sizes_of(const Parts& parts) {
  return {parts.narrow.size(), parts.narrow_width_bits, parts.wide.size(), parts.wide_width_bits, parts.index};
}

IndexShape index_of(const PartSizes& sizes) {
  const uint32_t width_bits = sizes.narrow_items == 0 ? sizes.wide_width_bits : sizes.narrow_width_bits;
  const uint64_t set_bytes = dense_bytes(sizes.narrow_items, sizes.narrow_width_bits) +
                             dense_bytes(sizes.wide_items, sizes.wide_width_bits);
  return index_shape(sizes.narrow_items + sizes.wide_items, set_bytes, width_bits);
}

// The index and the directories.
void append_index(const Parts& parts, std::string& out) {
  const IndexShape shape = index_of(sizes_of(parts));
  const size_t start = out.size();
  out.resize(start + shape.block_count * kBlockBytes, '\0');
  auto* const blocks = reinterpret_cast<uint8_t*>(out.data()) + start;
  best_kernels().build_index(parts.narrow, parts.narrow_width_bits - shape.key_bits, shape, blocks);
  best_kernels().build_index(parts.wide, parts.wide_width_bits - shape.key_bits, shape, blocks);
  if (!parts.narrow.empty()) elias_fano_append_directory(parts.narrow, parts.narrow_width_bits, out);
  if (!parts.wide.empty()) elias_fano_append_directory(parts.wide, parts.wide_width_bits, out);
}

// Walks over a value; a step fails instead of reading past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes)
      : at_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {}

  bool byte(uint8_t& out) {
    if (at_ == end_) return false;
    out = *at_++;
    return true;
  }
  // LEB128 in its shortest form, at most 32 bits.
  bool varint(uint64_t& out) {
    out = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
      uint8_t next = 0;
      if (!byte(next)) return false;
      out |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return out <= kItemsFormatMax && (next != 0 || shift == 0);
    }
    return false;
  }
  const uint8_t* take(uint64_t byte_count) {
    if (byte_count > left()) return nullptr;
    const uint8_t* const taken = at_;
    at_ += byte_count;
    return taken;
  }
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

Status read_set_header(Reader& reader, EliasFanoView& set) {
  uint8_t width_bits = 0;
  if (!reader.byte(width_bits) || !reader.varint(set.items))
    return corrupt("the header ends early or its count is malformed");
  if (width_bits == 0 || width_bits > kWidthBitsMax) return corrupt("width of " + std::to_string(width_bits) + " bits");
  if (set.items == 0 || set.items > low_mask(width_bits) + 1) return corrupt("an item count does not fit its width");
  set.width_bits = width_bits;
  set.shape = elias_fano_shape(set.items, width_bits);
  return {};
}

Status take_index(Reader& reader, uint64_t header_bytes, View& view) {
  const uint8_t* const padding = reader.take(kIndexOffset - header_bytes);
  if (padding == nullptr) return corrupt("the value ends in its header");
  for (size_t i = 0; i < kIndexOffset - header_bytes; ++i) {
    if (padding[i] != 0) return corrupt("padding of the header is not zero");
  }
  const uint64_t set_bytes =
      dense_bytes(view.narrow.items, view.narrow.width_bits) + dense_bytes(view.wide.items, view.wide.width_bits);
  view.index.shape = index_shape(view.narrow.items + view.wide.items, set_bytes, view.width_bits());
  view.index.blocks = reader.take(view.index.shape.block_count * kBlockBytes);
  view.narrow.directory = reader.take(view.narrow.shape.directory_bytes);
  view.wide.directory = reader.take(view.wide.shape.directory_bytes);
  if (view.index.blocks == nullptr || view.narrow.directory == nullptr || view.wide.directory == nullptr) {
    return corrupt("the value is too short for its index");
  }
  return {};
}

// True when the bits from `used_bits` on are zero.
bool padding_is_zero(const uint8_t* bytes, uint64_t used_bits) {
  return used_bits % 8 == 0 || bytes[used_bits / 8] >> (used_bits % 8) == 0;
}

Status take_set(Reader& reader, EliasFanoView& set) {
  set.lows = reader.take(set.shape.lows_bytes);
  set.uppers = reader.take(set.shape.uppers_bytes);
  if (set.lows == nullptr || set.uppers == nullptr) return corrupt("the value is too short for its items");
  if (!padding_is_zero(set.lows, set.items * set.shape.low_bits) ||
      !padding_is_zero(set.uppers, set.items + set.shape.buckets)) {
    return corrupt("padding of a fingerprint set is not zero");
  }
  return {};
}

}  // namespace

uint64_t assembled_bytes(const PartSizes& sizes) {
  const uint64_t header = 2 + set_header_bytes(sizes.narrow_items) + set_header_bytes(sizes.wide_items);
  const uint64_t before_sets = sizes.index ? kIndexOffset + index_of(sizes).block_count * kBlockBytes : header;
  return before_sets + bytes_of_set(sizes.narrow_items, sizes.narrow_width_bits, sizes.index) +
         bytes_of_set(sizes.wide_items, sizes.wide_width_bits, sizes.index) + kChecksumBytes;
}

std::string assemble(const Parts& parts, std::string_view store_key) {
  BLOOMRING_CHECK(!parts.narrow.empty() || !parts.wide.empty(), "an empty filter is an absent key");
  uint8_t flags = 0;
  if (!parts.narrow.empty()) flags |= kHasNarrow;
  if (!parts.wide.empty()) flags |= kHasWide;
  if (parts.index) flags |= kHasIndex;
  if (parts.folded) flags |= kFolded;
  if (parts.saturated) flags |= kSaturated;

  std::string out;
  out.reserve(assembled_bytes(sizes_of(parts)));
  out.push_back(static_cast<char>(kMagic));
  out.push_back(static_cast<char>(flags));
  if (!parts.narrow.empty()) append_set_header(parts.narrow.size(), parts.narrow_width_bits, out);
  if (!parts.wide.empty()) append_set_header(parts.wide.size(), parts.wide_width_bits, out);
  if (parts.index) {
    out.resize(kIndexOffset, '\0');
    append_index(parts, out);
  }
  if (!parts.narrow.empty()) append_set(parts.narrow, parts.narrow_width_bits, out);
  if (!parts.wide.empty()) append_set(parts.wide, parts.wide_width_bits, out);
  const uint32_t checksum = checksum_of(out, store_key);
  out.append(reinterpret_cast<const char*>(&checksum), kChecksumBytes);
  return out;
}

Result<View> parse(std::string_view value, std::string_view store_key, Checksum checksum) {
  if (value.size() < kChecksumBytes + 2) return corrupt("a value of " + std::to_string(value.size()) + " bytes");
  const std::string_view body = value.substr(0, value.size() - kChecksumBytes);
  if (static_cast<uint8_t>(body[0]) != kMagic) {
    return corrupt("first byte " + std::to_string(static_cast<uint8_t>(body[0])) + ", not a filter of version 1");
  }
  if (checksum == Checksum::kVerify) {
    uint32_t stored = 0;
    std::memcpy(&stored, value.data() + body.size(), kChecksumBytes);
    if (stored != checksum_of(body, store_key))
      return corrupt("checksum differs: damaged, or stored under another key");
  }

  View view;
  Reader reader(body.substr(2));
  view.flags = static_cast<uint8_t>(body[1]);
  if (view.flags >= kSaturated * 2 || (view.flags & (kHasNarrow | kHasWide)) == 0) {
    return corrupt("flags " + std::to_string(view.flags));
  }
  if (view.has(kHasNarrow)) BLOOMRING_TRY(read_set_header(reader, view.narrow));
  if (view.has(kHasWide)) BLOOMRING_TRY(read_set_header(reader, view.wide));
  if (view.has(kHasNarrow) && view.has(kHasWide) && view.narrow.width_bits >= view.wide.width_bits) {
    return corrupt("the narrow set is not narrower than the wide one");
  }
  if (view.has(kHasIndex)) BLOOMRING_TRY(take_index(reader, body.size() - reader.left(), view));
  if (view.has(kHasNarrow)) BLOOMRING_TRY(take_set(reader, view.narrow));
  if (view.has(kHasWide)) BLOOMRING_TRY(take_set(reader, view.wide));
  if (reader.left() != 0) return corrupt("the value is longer than its items need");
  const auto* const end = reinterpret_cast<const uint8_t*>(value.data() + value.size());
  view.narrow.end = view.wide.end = end;
  return view;
}

Status check_index(const View& view, const Parts& parts) {
  if (!view.has(kHasIndex)) return {};
  std::string expected;
  append_index(parts, expected);
  if (std::memcmp(expected.data(), view.index.blocks, expected.size()) != 0) {
    return corrupt("the index is not that of its fingerprints");
  }
  return {};
}

Status decode(const View& view, Parts& out) {
  out.narrow_width_bits = view.narrow.width_bits;
  out.wide_width_bits = view.wide.width_bits;
  out.index = view.has(kHasIndex);
  out.folded = view.has(kFolded);
  out.saturated = view.has(kSaturated);
  if (view.narrow.items > 0) BLOOMRING_TRY(decode_set(view.narrow, out.narrow));
  if (view.wide.items > 0) BLOOMRING_TRY(decode_set(view.wide, out.wide));
  if (covers_any(out.wide, out.wide_width_bits, out.narrow, out.narrow_width_bits)) {
    return corrupt("a wide fingerprint begins with a narrow one");
  }
  return {};
}

}  // namespace bloomring::filter
