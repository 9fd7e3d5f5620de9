#include "filter/elias_fano.h"

#include <algorithm>

#include "filter/bits.h"

namespace bloomring::filter {

EliasFanoShape elias_fano_shape(uint64_t items, uint32_t width_bits) {
  const uint32_t high_bits = std::min(width_bits, ceil_log2(items));
  EliasFanoShape shape;
  shape.low_bits = width_bits - high_bits;
  shape.buckets = uint64_t{1} << high_bits;
  shape.lows_bytes = bytes_of_bits(items * shape.low_bits);
  shape.uppers_bytes = bytes_of_bits(items + shape.buckets);
  shape.directory_bytes = (shape.buckets - 1) / kDirectoryBuckets * kDirectoryEntryBytes;
  return shape;
}

void elias_fano_append_directory(std::span<const uint64_t> set, uint32_t width_bits, std::string& out) {
  const EliasFanoShape shape = elias_fano_shape(set.size(), width_bits);
  size_t before = 0;
  for (uint64_t bucket = kDirectoryBuckets; bucket < shape.buckets; bucket += kDirectoryBuckets) {
    while (before < set.size() && set[before] >> shape.low_bits < bucket) ++before;
    const auto entry = static_cast<uint32_t>(before);
    out.append(reinterpret_cast<const char*>(&entry), kDirectoryEntryBytes);
  }
}

Status elias_fano_status(EliasFanoFault fault) {
  switch (fault) {
    case EliasFanoFault::kNone: return {};
    case EliasFanoFault::kTooMany: return corrupt("a fingerprint set holds more items than it says");
    case EliasFanoFault::kTooFew: return corrupt("a fingerprint set holds fewer items than it says");
    case EliasFanoFault::kNotAscending: return corrupt("a fingerprint set is not in ascending order");
    case EliasFanoFault::kTooWide: return corrupt("a fingerprint is wider than its set");
  }
  return fatal("a fault without a name");
}

}  // namespace bloomring::filter
