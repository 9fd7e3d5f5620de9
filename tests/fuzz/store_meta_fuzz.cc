// Any bytes as a store's description of itself: refused with a reason, or what the encoder would have written, which is
// then compared with what a process is configured for.
#include "base/result.h"
#include "schemas/store_key.h"
#include "state/store/check_store_meta.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const StoreMeta configured{kPartitionCount, PeriodUnit::kMonth, "UTC"};
  (void)check_store_meta(input, configured);
  const std::string bytes = summed(input, kMetaKey);
  const Status status = check_store_meta(bytes, configured);
  BLOOMRING_CHECK(status.ok() || !status.message().empty(), "refused with a reason");
  const auto meta = decode_store_meta(bytes);
  if (!meta.ok()) {
    BLOOMRING_CHECK(meta.code() == Code::kCorrupt || meta.code() == Code::kInvalid, "refused as one of two");
    BLOOMRING_CHECK(status.code() == meta.code(), "what cannot be read does not fit");
    return 0;
  }
  BLOOMRING_CHECK(compare_store_meta(*meta, *meta).ok(), "a store fits its own description");
  const std::string written = encode_store_meta(*meta);
  BLOOMRING_CHECK(input[0] != written[0] || written == bytes, "a description has exactly one coding in a version");
  return 0;
}
