// Any bytes as the state of a shard on a Redis server: refused with a reason, or what the encoder would have written; a
// state of another place is none.
#include "base/result.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store/shard_state.h"
#include "schemas/store_key.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

namespace {

constexpr std::string_view kLabel = "shard 17";
constexpr size_t kMarkAt = 1 + 8 + 8 + 8 + 1;

void expect_reason(const Status& status) {
  const bool refused = status.code() == Code::kCorrupt || status.code() == Code::kInvalid;
  BLOOMRING_CHECK(refused && !status.message().empty(), "refused with a reason");
}

// Its mark gets a sum that fits, too, which the fuzzer cannot find either.
std::string with_sums(std::string_view body) {
  std::string bytes(body.substr(0, kMarkAt));
  if (body.size() > kMarkAt) bytes += summed(body.substr(kMarkAt), watermark_key(kPartition));
  return summed(bytes, kLabel);
}

void expect_one_coding(const std::string& bytes) {
  const auto state = decode_shard_state(bytes, kLabel, kPartition, kPartitionCount);
  if (!state.ok()) return expect_reason(state.status());
  const std::string written = encode_shard_state(*state, kLabel, kPartition, kPartitionCount);
  const bool older = state->mark && bytes[kMarkAt] != written[kMarkAt];  // A mark of an older version.
  BLOOMRING_CHECK(older || written == bytes, "a state has exactly one coding in a version");
  const auto again = decode_shard_state(written, kLabel, kPartition, kPartitionCount);
  BLOOMRING_CHECK(again.ok() && *again == *state, "what was written can be read");
  expect_reason(decode_shard_state(bytes, "shard 18", kPartition, kPartitionCount).status());
}

}  // namespace

// The state without its sums.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  expect_one_coding(std::string(input));
  expect_one_coding(summed(input, kLabel));
  expect_one_coding(with_sums(input));
  return 0;
}
