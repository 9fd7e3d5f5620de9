// Any bytes as a snapshot: refused with a reason, or exactly what the encoder would have written; and what is taken can
// be asked about, whatever its filters hold.
#include <array>

#include "client/snapshot_filter.h"
#include "schemas/snapshot.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = sealed({reinterpret_cast<const char*>(data), size}, kSnapshotKind);
  const auto snapshot = decode_snapshot(bytes);
  if (!snapshot.ok()) {
    BLOOMRING_CHECK(snapshot.code() == Code::kCorrupt && !snapshot.status().message().empty(), "refused with a reason");
  } else {
    BLOOMRING_CHECK(encode_snapshot(*snapshot) == bytes, "a snapshot has exactly one coding");
  }
  auto filter = SnapshotFilter::open(bytes);
  BLOOMRING_CHECK(snapshot.ok() || !filter.ok(), "what cannot be decoded is not opened");
  if (!filter.ok()) return 0;
  const std::array<std::string, 3> items = {"v1", "v2", "never"};
  BLOOMRING_CHECK(filter->filter(items).size() == items.size(), "each item has a verdict");
  BLOOMRING_CHECK(filter->user().size() + filter->scene().size() > 0, "a snapshot is of a user");
  return 0;
}
