// Any bytes as a record of user-batches: refused with a reason, or read to its end; a slot end has exactly one coding.
#include "base/result.h"
#include "schemas/user_batch.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

namespace {

void read(UserBatchReader reader) {
  QuarterIndex quarter;
  std::vector<ItemHash> items;
  std::vector<int64_t> times_ms;
  while (reader.next_user()) {
    BLOOMRING_CHECK(UserKey::valid(reader.user_key()), "a user key is valid");
    bool empty = reader.forgets().empty();
    for (; reader.next_quarter(quarter, items, times_ms); empty = false) {
      BLOOMRING_CHECK(!items.empty() && items.size() == times_ms.size(), "a quarter has an item, and each item a time");
    }
    BLOOMRING_CHECK(!empty, "a user has a play or a forget");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string bytes = sealed(input, size > 0 ? data[0] : kUserBatchKind);
  auto record = decode_batch_record(bytes, kPartition, kPartitionCount);
  if (!record.ok()) {
    BLOOMRING_CHECK(record.code() == Code::kBadRecord && !record.status().message().empty(), "refused with a reason");
  } else if (auto* batch = std::get_if<UserBatchReader>(&*record)) {
    read(std::move(*batch));
  } else {
    BLOOMRING_CHECK(encode_slot_end(std::get<SlotEnd>(*record)) == bytes, "a slot end has exactly one coding");
  }
  return 0;
}
