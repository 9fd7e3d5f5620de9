#include "schemas/store/deletion_mark.h"

#include <catch2/catch.hpp>

#include "schemas/store_key.h"

using namespace bloomring;

namespace {
constexpr int64_t kSinceMs = 1'649'316'000'000;
const ShardId kShard(2051);
}  // namespace

TEST_CASE("deletion mark: it is read back as it was written") {
  const std::string bytes = encode_deletion_mark(kSinceMs, kShard);
  CHECK(decode_deletion_mark(bytes, kShard).value() == kSinceMs);
}

TEST_CASE("deletion mark: of another shard, or with any bit changed, cut or added, it is none") {
  const std::string good = encode_deletion_mark(kSinceMs, kShard);
  CHECK(decode_deletion_mark(good, ShardId(2052)).code() == Code::kCorrupt);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CHECK(decode_deletion_mark(bad, kShard).code() == Code::kCorrupt);
  }
  CHECK(decode_deletion_mark(good.substr(1), kShard).code() == Code::kCorrupt);
  CHECK(decode_deletion_mark(good + "x", kShard).code() == Code::kCorrupt);
}

TEST_CASE("deletion mark: its key names its shard, and is no other key of a store") {
  const std::string key = deletion_mark_key(kShard);
  CHECK(parse_deletion_mark_key(key).value() == kShard);
  CHECK(parse_deletion_mark_key(deletion_mark_key(ShardId(4999))).value() == ShardId(4999));
  CHECK_FALSE(parse_deletion_mark_key("e\x13\x88").ok());  // Shard 5000.
  CHECK_FALSE(parse_deletion_mark_key("e\x01").ok());
  CHECK_FALSE(parse_filter_key(key).ok());
  CHECK_FALSE(parse_forgotten_key(key).ok());
  CHECK_FALSE(parse_watermark_key(key).ok());
}
