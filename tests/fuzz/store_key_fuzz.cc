// Any bytes as a key of the filter store: refused, or exactly the key that the builder makes; and described in
// printable characters either way. The fuzzer cannot find a shard by itself, so the right one is also put in its place.
#include <algorithm>

#include "base/result.h"
#include "schemas/store_key.h"

using namespace bloomring;

namespace {

void expect_one_builder(std::string_view key) {
  if (const auto parsed = parse_filter_key(key); parsed.ok()) {
    BLOOMRING_CHECK(UserKey::valid(parsed->user_key), "a user key is valid");
    BLOOMRING_CHECK(filter_key(parsed->user_key, parsed->unit, parsed->period) == key, "a filter has exactly one key");
  }
  if (const auto user_key = parse_forgotten_key(key); user_key.ok()) {
    BLOOMRING_CHECK(forgotten_key(*user_key) == key, "a user has exactly one key");
    BLOOMRING_CHECK(!parse_filter_key(key).ok(), "no key is of two kinds");
  }
  if (const auto partition = parse_watermark_key(key); partition.ok()) {
    BLOOMRING_CHECK(watermark_key(*partition) == key, "a partition has exactly one key");
  }
  const std::string words = describe_store_key(key);
  const bool printable = std::ranges::all_of(words, [](char c) { return c >= ' ' && c < '\x7f'; });
  BLOOMRING_CHECK(!words.empty() && printable, "printable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  expect_one_builder(input);
  constexpr size_t kTailBytes = 3;
  if (size > kTailBytes && UserKey::valid(input.substr(kTailBytes))) {
    const UserRef user = input.substr(kTailBytes);
    expect_one_builder(forgotten_key(user));
    std::string key = filter_key(user, PeriodUnit::kMonth, PeriodIndex(0));
    key.replace(key.size() - kTailBytes, kTailBytes, input.substr(0, kTailBytes));
    expect_one_builder(key);
  }
  return 0;
}
