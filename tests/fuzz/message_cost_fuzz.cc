// Any bytes as a request: its cost, which is counted before it is parsed, is never below what protobuf takes for it,
// and does not depend on the pieces in which it comes; bytes that have no cost are no message.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/result.h"
#include "serving/admission/message_cost.h"

using namespace bloomring;

// Of AddressSanitizer; other sanitizers do not have them.
extern "C" {
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, size_t),
                                                                   void (*freed)(const volatile void*));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void* block);
}

namespace {

thread_local int64_t held_bytes = 0;  // As they were asked for.
void note_taken(const volatile void*, size_t bytes) { held_bytes += static_cast<int64_t>(bytes); }
void note_freed(const volatile void* block) {
  if (block != nullptr) held_bytes -= static_cast<int64_t>(__sanitizer_get_allocated_size(block));
}

constexpr size_t kRequestsMax = 1'000'000;

grpc::ByteBuffer in_pieces(std::string_view bytes, size_t piece_bytes) {
  std::vector<grpc::Slice> slices;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece_bytes, bytes.size())))
    slices.emplace_back(std::string(bytes.substr(0, piece_bytes)));
  return {slices.data(), slices.size()};
}

// By protobuf's count, and by what was asked of the allocator meanwhile and is still held.
template <typename Request>
bool parse(std::string_view bytes, size_t& taken) {
  const int64_t before = held_bytes;
  const auto request = std::make_unique<Request>();
  const bool parsed = request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  taken = std::max(request->SpaceUsedLong(), static_cast<size_t>(std::max<int64_t>(0, held_bytes - before)));
  return parsed;
}

template <typename Request>
void check(std::string_view bytes, size_t piece_bytes) {
  grpc::ByteBuffer pieces = in_pieces(bytes, piece_bytes), whole = in_pieces(bytes, bytes.size());
  const auto cost = message_cost<Request>(pieces, kRequestsMax);
  const auto again = message_cost<Request>(whole, kRequestsMax);
  BLOOMRING_CHECK(cost.ok() == again.ok() && (!cost.ok() || cost->bytes == again->bytes), "whatever its pieces");
  size_t first = 0, taken = 0;
  parse<Request>(bytes, first);  // Protobuf makes things of its own when it meets a type for the first time.
  const bool parsed = parse<Request>(bytes, taken);
  if (!cost.ok()) {
    BLOOMRING_CHECK(cost.code() == Code::kBadRecord && !parsed, "only bytes that are no message are refused");
    return;
  }
  BLOOMRING_CHECK(!parsed || cost->bytes >= taken, "never below what the parsed message takes");
}

}  // namespace

// Which request (1 byte), the bytes of a piece (1 byte), the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kNoLog = google::protobuf::SetLogHandler(nullptr);  // A line for each text that is not UTF-8.
  (void)kNoLog;
  static const int kHooked = __sanitizer_install_malloc_and_free_hooks != nullptr
                                 ? __sanitizer_install_malloc_and_free_hooks(note_taken, note_freed)
                                 : 0;
  (void)kHooked;
  if (size < 2) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t piece_bytes = 1 + data[1];
  switch (data[0] % 5) {
    case 0: check<v1::FilterRequest>(message, piece_bytes); break;
    case 1: check<v1::FilterBatchRequest>(message, piece_bytes); break;
    case 2: check<v1::RecordServedRequest>(message, piece_bytes); break;
    case 3: check<v1::GetSnapshotRequest>(message, piece_bytes); break;
    default: check<v1::ForgetRequest>(message, piece_bytes);
  }
  return 0;
}
