// Any bytes as a request of the query service: refused with a reason, or decoded within its limits; packed ids mean
// what the same ids mean as text.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <numeric>

#include "base/result.h"
#include "serving/service/request_codec.h"

using namespace bloomring;

namespace {

// Small, so that small inputs reach them.
RequestLimits limits_of_test() {
  RequestLimits limits;
  limits.candidates_max = 24;
  limits.client_seen_max = 12;
  limits.batch_max = 4;
  limits.batch_ids_max = 40;
  limits.scenes.declared = {"feed", "search"};
  limits.message_bytes_max = 2'000;
  return limits;
}

void expect_reason(const Status& status) {
  const bool refused = status.code() == Code::kBadRecord && !status.message().empty();
  BLOOMRING_CHECK(status.ok() || refused, "refused with a reason");
}

uint64_t sum_of(std::string_view lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), uint64_t{0},
                         [](uint64_t sum, char length) { return sum + static_cast<uint8_t>(length); });
}

// The oracle of packed ids: each of them alone.
void expect_same_as_text(const v1::Ids& ids, size_t ids_max) {
  const v1::PackedIds& packed = ids.packed();
  if (ids.text_size() > 0 || ids.integers_size() > 0 || sum_of(packed.lengths()) != packed.bytes().size()) {
    BLOOMRING_CHECK(!hash_ids(ids, "ids", ids_max).ok(), "neither two forms nor wrong lengths are taken");
    return;
  }
  v1::Ids text;
  std::string_view rest = packed.bytes();
  for (const char length : packed.lengths()) {
    text.add_text(std::string(rest.substr(0, static_cast<uint8_t>(length))));
    rest.remove_prefix(static_cast<uint8_t>(length));
  }
  const auto of_packed = hash_ids(ids, "ids", ids_max);
  const auto of_text = hash_ids(text, "ids", ids_max);
  BLOOMRING_CHECK(of_packed.ok() == of_text.ok(), "packed ids are taken when they are as text");
  BLOOMRING_CHECK(!of_text.ok() || of_packed.value() == of_text.value(), "and are the same ids");
}

void check_ids(const v1::Ids& ids, size_t ids_max) {
  const auto hashes = hash_ids(ids, "ids", ids_max);
  expect_reason(hashes.status());
  BLOOMRING_CHECK(!hashes.ok() || (hashes->size() == id_count(ids) && hashes->size() <= ids_max), "a hash for each id");
  if (ids.has_packed()) expect_same_as_text(ids, ids_max);
}

void check_filter(const v1::FilterRequest& request, const RequestLimits& limits) {
  check_ids(request.candidates(), limits.candidates_max);
  check_ids(request.client_seen(), limits.client_seen_max);
  const auto decoded = decode(request, limits);
  expect_reason(decoded.status());
  if (!decoded.ok()) return;
  BLOOMRING_CHECK(decoded->ids.size() <= limits.candidates_max, "within the limit");
  BLOOMRING_CHECK(decoded->client_seen.size() <= limits.client_seen_max, "within the limit");
  BLOOMRING_CHECK(UserKey::valid(decoded->user_key.bytes()), "of a user");
  const auto& groups = decoded->ids_per_candidate;
  const uint64_t grouped = std::accumulate(groups.begin(), groups.end(), uint64_t{0});
  BLOOMRING_CHECK(groups.empty() || grouped == decoded->ids.size(), "each id is of one candidate");
  BLOOMRING_CHECK(std::ranges::find(groups, 0u) == groups.end(), "each candidate has an id");
  BLOOMRING_CHECK(decoded->candidates() <= decoded->ids.size(), "no more candidates than ids");
}

void check_batch(const v1::FilterBatchRequest& batch, const RequestLimits& limits) {
  const Status status = check(batch, limits);
  expect_reason(status);
  BLOOMRING_CHECK(!status.ok() || static_cast<size_t>(batch.requests_size()) <= limits.batch_max, "within the limit");
  for (const v1::FilterRequest& request : batch.requests()) check_filter(request, limits);
}

void check_forget(const v1::ForgetRequest& request, const RequestLimits& limits) {
  const auto item = decode_forgotten_item(request);
  expect_reason(item.status());
  BLOOMRING_CHECK(!item.ok() || item->has_value() == request.has_item(), "an item, or everything");
  expect_reason(decode_user(request.user(), request.scene(), limits.scenes).status());
}

template <typename Request>
void with(std::string_view bytes, void (*check)(const Request&, const RequestLimits&)) {
  static const RequestLimits kLimits = limits_of_test();
  static const RequestLimits kUsual;
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  check(request, kLimits);
  check(request, kUsual);
}

}  // namespace

// Which request (1 byte), the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kNoLog = google::protobuf::SetLogHandler(nullptr);  // A line for each text that is not UTF-8.
  (void)kNoLog;
  if (size == 0) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: with<v1::FilterRequest>(message, check_filter); break;
    case 1: with<v1::FilterBatchRequest>(message, check_batch); break;
    case 2: with<v1::ForgetRequest>(message, check_forget); break;
    default:
      with<v1::RecordServedRequest>(message, [](const v1::RecordServedRequest& served, const RequestLimits& limits) {
        check_ids(served.items(), limits.served_items_max);
      });
  }
  return 0;
}
