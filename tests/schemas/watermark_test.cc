#include "schemas/watermark.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace bloomring;

namespace {

OffsetRange range(int64_t from, int64_t to) { return {Offset(from), Offset(to)}; }

// The meaning of a watermark: the offsets that are merged.
std::set<int64_t> covered_by(const MergedWatermark& w, int64_t end) {
  std::set<int64_t> offsets;
  for (int64_t o = 0; o < end; ++o) {
    if (w.covers(range(o, o + 1))) offsets.insert(o);
  }
  return offsets;
}

bool well_formed(const MergedWatermark& w) {
  Offset last = w.offset;
  for (const OffsetRange& r : w.ahead) {
    if (r.from <= last || r.to <= r.from) return false;
    last = r.to;
  }
  return w.ahead.size() <= MergedWatermark::kAheadMax;
}

MergedWatermark sample() {
  MergedWatermark w;
  w.add(range(0, 1000), HourIndex(456789));
  w.add(range(2000, 3000), HourIndex(456791));
  w.add(range(5000, 5001), HourIndex(456793));
  w.merged_ms = 1'649'316'000'000;
  w.slot_ms = 3'600'000;
  return w;
}

}  // namespace

TEST_CASE("watermark: ranges added in any order cover what the set of their offsets covers") {
  constexpr int64_t kEnd = 60;
  std::mt19937 rng(7);
  for (int round = 0; round < 3000; ++round) {
    MergedWatermark w;
    std::set<int64_t> oracle;
    for (int i = 0; i < 12; ++i) {
      const int64_t from = static_cast<int64_t>(rng() % kEnd);
      const int64_t to = std::min<int64_t>(kEnd, from + static_cast<int64_t>(rng() % 9));
      REQUIRE(w.add(range(from, to), HourIndex(i)));
      for (int64_t o = from; o < to; ++o) oracle.insert(o);
      REQUIRE(well_formed(w));
      REQUIRE(covered_by(w, kEnd) == oracle);
      REQUIRE(w.covers(range(from, to)));
    }
  }
}

TEST_CASE("watermark: a range is covered exactly when each of its offsets is") {
  std::mt19937 rng(8);
  for (int round = 0; round < 300; ++round) {
    MergedWatermark w;
    for (int i = 0; i < 4; ++i) {
      const auto from = static_cast<int64_t>(rng() % 16);
      w.add(range(from, from + static_cast<int64_t>(rng() % 5)), HourIndex(0));
    }
    const auto offsets = covered_by(w, 22);
    for (int64_t from = 0; from < 20; ++from) {
      for (int64_t to = from; to < 20; ++to) {
        bool all = true;
        for (int64_t o = from; o < to; ++o) all = all && offsets.count(o) == 1;
        REQUIRE(w.covers(range(from, to)) == all);
      }
    }
  }
}

TEST_CASE("watermark: every permutation of contiguous slots ends as one offset and nothing ahead") {
  std::vector<int> order = {0, 1, 2, 3, 4, 5};
  do {
    MergedWatermark w;
    for (const int slot : order) w.add(range(slot * 10, slot * 10 + 10), HourIndex(slot));
    REQUIRE(w.offset == Offset(60));
    REQUIRE(w.ahead.empty());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("watermark: offset and hour never go back, also when a slot is merged again") {
  MergedWatermark w = sample();
  const MergedWatermark before = w;
  CHECK(w.add(range(0, 500), HourIndex(3)));
  CHECK(w == before);
  CHECK(w.add(range(500, 1500), HourIndex(3)));
  CHECK(w.offset == Offset(1500));
  CHECK(w.hour == before.hour);
}

TEST_CASE("watermark: what is ahead is bounded, and a range without a place is forgotten without losing another") {
  MergedWatermark w;
  for (int64_t i = 1; i <= 64; ++i) REQUIRE(w.add(range(i * 10, i * 10 + 5), HourIndex(i)));
  const MergedWatermark full = w;
  CHECK_FALSE(w.add(range(900, 905), HourIndex(90)));
  CHECK_FALSE(w.add(range(7, 8), HourIndex(90)));
  CHECK(w == full);
  CHECK(w.add(range(15, 17), HourIndex(90)));  // Touches one: needs no place.
  CHECK(w.covers(range(10, 17)));
  CHECK(w.add(range(0, 10), HourIndex(90)));  // Moves the offset: makes place.
  CHECK(w.offset == Offset(17));
  CHECK(w.add(range(900, 905), HourIndex(90)));
  CHECK(w.ahead.size() == 64);
}

TEST_CASE("watermark: an empty range is covered and adds nothing") {
  MergedWatermark w = sample();
  const MergedWatermark before = w;
  CHECK(w.covers(range(1500, 1500)));
  CHECK(w.add(range(1500, 1500), HourIndex(9999999)));
  CHECK(w == before);
}

TEST_CASE("watermark: its bytes are golden and come back as they went in") {
  const std::string bytes = encode_watermark(sample(), PartitionId(3), 50);
  const std::string body(
      "\x03"
      "\x32\x00\x00\x00"
      "\xe8\x03\x00\x00\x00\x00\x00\x00"
      "\x55\xf8\x06\x00\x00\x00\x00\x00"
      "\x00\xf1\xe4\x02\x80\x01\x00\x00"
      "\x80\xee\x36\x00\x00\x00\x00\x00"
      "\x02"
      "\xd0\x07\x00\x00\x00\x00\x00\x00"
      "\xb8\x0b\x00\x00\x00\x00\x00\x00"
      "\x88\x13\x00\x00\x00\x00\x00\x00"
      "\x89\x13\x00\x00\x00\x00\x00\x00",
      70);
  CHECK(bytes.substr(0, 70) == body);
  CHECK(bytes.substr(70) == std::string("\x8b\x43\x18\xb5\x51\x1a\x5c\x61", 8));
  const auto decoded = decode_watermark(bytes, PartitionId(3), 50);
  REQUIRE(decoded.ok());
  CHECK(*decoded == sample());
}

TEST_CASE("watermark: one of version 1 is read, without merged log time") {
  const std::string bytes(
      "\x01"
      "\x32\x00\x00\x00"
      "\xe8\x03\x00\x00\x00\x00\x00\x00"
      "\x55\xf8\x06\x00\x00\x00\x00\x00"
      "\x02"
      "\xd0\x07\x00\x00\x00\x00\x00\x00"
      "\xb8\x0b\x00\x00\x00\x00\x00\x00"
      "\x88\x13\x00\x00\x00\x00\x00\x00"
      "\x89\x13\x00\x00\x00\x00\x00\x00"
      "\x86\xd7\xda\x1e\xb0\x14\x0a\xc0",
      62);
  MergedWatermark expected = sample();
  expected.merged_ms.reset();
  expected.slot_ms = 0;
  const auto decoded = decode_watermark(bytes, PartitionId(3), 50);
  REQUIRE(decoded.ok());
  CHECK(*decoded == expected);
}

TEST_CASE("watermark: one of version 2 is read, without the length of slots") {
  const std::string bytes(
      "\x02"
      "\x32\x00\x00\x00"
      "\xe8\x03\x00\x00\x00\x00\x00\x00"
      "\x55\xf8\x06\x00\x00\x00\x00\x00"
      "\x00\xf1\xe4\x02\x80\x01\x00\x00"
      "\x02"
      "\xd0\x07\x00\x00\x00\x00\x00\x00"
      "\xb8\x0b\x00\x00\x00\x00\x00\x00"
      "\x88\x13\x00\x00\x00\x00\x00\x00"
      "\x89\x13\x00\x00\x00\x00\x00\x00"
      "\xf2\x09\xa5\x0f\x70\xad\xe4\x05",
      70);
  MergedWatermark expected = sample();
  expected.slot_ms = 0;
  const auto decoded = decode_watermark(bytes, PartitionId(3), 50);
  REQUIRE(decoded.ok());
  CHECK(*decoded == expected);
}

TEST_CASE("watermark: every flipped bit, missing byte and added byte is corrupt") {
  const std::string good = encode_watermark(sample(), PartitionId(3), 50);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(decode_watermark(bad, PartitionId(3), 50).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < good.size(); ++size) {
    REQUIRE(decode_watermark(good.substr(0, size), PartitionId(3), 50).code() == Code::kCorrupt);
  }
  CHECK(decode_watermark(good + '\0', PartitionId(3), 50).code() == Code::kCorrupt);
}

TEST_CASE("watermark: that of another partition is corrupt, that of another partition count says what to do") {
  const std::string bytes = encode_watermark(sample(), PartitionId(3), 50);
  CHECK(decode_watermark(bytes, PartitionId(4), 50).code() == Code::kCorrupt);
  const Status status = decode_watermark(bytes, PartitionId(3), 100).status();
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("50 partitions") && Catch::Contains("100") && Catch::Contains("replay"));
}
