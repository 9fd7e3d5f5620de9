// Any bytes as the notes of the filter view: refused with a reason, or what the encoders would have written.
#include "schemas/window/filter_notes.h"

using namespace bloomring;

namespace {

template <typename Note, typename Encode>
void expect_one_coding(std::string_view bytes, const Result<Note>& note, const Encode& encode) {
  if (!note.ok()) {
    BLOOMRING_CHECK(note.code() == Code::kCorrupt && !note.status().message().empty(), "refused with a reason");
    return;
  }
  std::string written;
  encode(*note, written);
  BLOOMRING_CHECK(written == bytes, "a note has exactly one coding");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto of_view = decode_view_note(input);
  BLOOMRING_CHECK(!of_view.ok() || *of_view >= 0, "a time is not negative");
  expect_one_coding(input, of_view, encode_view_note);
  const auto of_hour = decode_hour_note(input);
  BLOOMRING_CHECK(!of_hour.ok() || of_hour->late_before_ms >= 0, "a time is not negative");
  expect_one_coding(input, of_hour, encode_hour_note);
  return 0;
}
