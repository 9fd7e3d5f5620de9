// Any bytes as an event block: refused with a reason, or read to its end with as many events as it says.
#include "base/result.h"
#include "schemas/event_block.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  BLOOMRING_CHECK(!EventBlockReader::open(input, kPartition, kPartitionCount).ok() || size > 4,
                  "a block has a checksum");
  const std::string block = sealed(input, kEventBlockKind);
  auto reader = EventBlockReader::open(block, kPartition, kPartitionCount);
  if (!reader.ok()) {
    BLOOMRING_CHECK(reader.code() == Code::kBadRecord && !reader.status().message().empty(), "refused with a reason");
    return 0;
  }
  uint64_t events = 0;
  while (reader->next_user()) {
    BLOOMRING_CHECK(UserKey::valid(reader->user_key()), "a user key is valid");
    while (reader->next_event()) ++events;
  }
  BLOOMRING_CHECK(events == reader->events(), "as many events as the header says");
  return 0;
}
