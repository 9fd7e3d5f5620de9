// Any bytes as the state of a window store: refused with a reason, or read to its end and written again.
#include "base/result.h"
#include "schemas/window/window_state.h"
#include "tests/fuzz/sealed.h"

using namespace bloomring;
using namespace bloomring::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr uint8_t kWindowStateKind = 'W';
  (void)decode_window_state(input, kPartitionCount);
  const std::string bytes = sealed(input, kWindowStateKind);
  const auto state = decode_window_state(bytes, kPartitionCount);
  if (!state.ok()) {
    const bool refused = state.code() == Code::kCorrupt || state.code() == Code::kInvalid;
    BLOOMRING_CHECK(refused && !state.status().message().empty(), "refused with a reason");
    return 0;
  }
  for (const ViewState& view : state->views) {
    BLOOMRING_CHECK(view.hours.size() == state->hours.size(), "a view has one entry for each hour");
  }
  std::string written;
  encode_window_state(*state, written);
  BLOOMRING_CHECK(input[0] != written[0] || written == bytes, "a state has exactly one coding in a version");
  const auto again = decode_window_state(written, kPartitionCount);
  BLOOMRING_CHECK(again.ok() && *again == *state, "what was written can be read");
  return 0;
}
