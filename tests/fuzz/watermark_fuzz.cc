// Any bytes as a merged watermark: refused with a reason, or what the encoder would have written; ranges that are added
// leave a watermark that can be stored and covers them.
#include "base/result.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"
#include "schemas/watermark.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

namespace {

constexpr size_t kRangeBytes = 3;  // Where it begins (2 bytes) and how many offsets it has (1 byte).

void add_range(MergedWatermark& watermark, ByteReader& in) {
  const int64_t begin = in.u8() | in.u8() << 8;
  const OffsetRange range{Offset(begin), Offset(begin + in.u8())};
  const MergedWatermark before = watermark;
  const bool added = watermark.add(range, HourIndex(begin));
  BLOOMRING_CHECK(!added || watermark.covers(range), "what was added is covered");
  BLOOMRING_CHECK(added || watermark == before, "what has no place changes nothing");
  BLOOMRING_CHECK(watermark.covers({Offset(0), before.offset}), "what was covered stays covered");
  for (const OffsetRange& merged : before.ahead) BLOOMRING_CHECK(watermark.covers(merged), "also beyond a gap");
}

}  // namespace

// Number of ranges (1 byte), the ranges, the value without its sum.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in({reinterpret_cast<const char*>(data), size});
  const std::string_view range_bytes = in.raw(std::min<size_t>(in.left(), in.u8() * kRangeBytes));
  const std::string_view body = in.raw(in.left());
  const std::string bytes = summed(body, watermark_key(kPartition));
  auto decoded = decode_watermark(bytes, kPartition, kPartitionCount);
  if (!decoded.ok()) {
    const bool refused = decoded.code() == Code::kCorrupt || decoded.code() == Code::kInvalid;
    BLOOMRING_CHECK(refused && !decoded.status().message().empty(), "refused with a reason");
    return 0;
  }
  const std::string written = encode_watermark(*decoded, kPartition, kPartitionCount);
  BLOOMRING_CHECK(body[0] != written[0] || written == bytes, "a watermark has exactly one coding in a version");
  MergedWatermark watermark = std::move(decoded).value();
  for (ByteReader ranges(range_bytes); !ranges.at_end();) add_range(watermark, ranges);
  const std::string changed = encode_watermark(watermark, kPartition, kPartitionCount);
  const auto again = decode_watermark(changed, kPartition, kPartitionCount);
  BLOOMRING_CHECK(again.ok() && *again == watermark, "what was written can be read");
  return 0;
}
