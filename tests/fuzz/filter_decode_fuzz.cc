// Any bytes: no crash, no over-read; what is accepted is the one coding of its sets, and both ways to query agree.
#include "base/hash.h"
#include "tests/fuzz/filter_input.h"

using namespace bloomring;
using namespace bloomring::filter;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  BLOOMRING_CHECK(summarize(input, kFuzzKey).code() != Code::kFatal, "refused as corrupt, or accepted");

  const std::string value = signed_value(input);
  std::vector<ItemHash> candidates;
  for (uint64_t i = 0; i < 67; ++i) candidates.emplace_back(i * 0x9e3779b97f4a7c15ULL);
  const auto best = ask(Query::Simd::kBest, value, candidates);
  const auto portable = ask(Query::Simd::kNone, value, candidates);
  const auto summary = summarize(value, kFuzzKey);
  if (!summary.ok()) return 0;
  BLOOMRING_CHECK(best == portable, "AVX2 and the portable code give the same answers");
  Parts parts;
  BLOOMRING_CHECK(decode(parse(value, kFuzzKey, Checksum::kVerify).value(), parts).ok(), "accepted twice");
  BLOOMRING_CHECK(assemble(parts, kFuzzKey) == value, "a set has exactly one coding");
  return 0;
}
