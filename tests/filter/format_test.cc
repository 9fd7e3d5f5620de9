#include "filter/format.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

// Bytes that would be gone at the end of the statement do not compile.
template <typename Bytes>
concept Parsable = requires(Bytes bytes) { parse(std::forward<Bytes>(bytes), "key", Checksum::kVerify); };
static_assert(Parsable<const std::string&> && Parsable<std::string_view>);
static_assert(!Parsable<std::string> && !Parsable<const std::string>);

struct Golden {
  std::string name;
  std::string value;
};

std::vector<Golden> golden_values() {
  Policy dense;
  dense.dense_from_items = 0;
  const std::string folded = united({united({operand(items(0, 16))})}, {}, true);
  return {
      {"operand of 4", operand(items(0, 4))},
      {"1 item", united({operand(items(0, 1))})},
      {"16 items", united({operand(items(0, 16))})},
      {"100 items", united({operand(items(0, 100))})},
      {"16 items folded", folded},
      {"16 items folded, 4 late", united({folded, operand(items(16, 20))}, {}, true)},
      {"1 item, dense", united({operand(items(0, 1))}, dense)},
      {"200 items, dense", united({operand(items(0, 200))}, dense)},
      {"16 items folded, 4 late, dense", united({folded, operand(items(16, 20))}, dense, true)},
  };
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
    out += two;
  }
  return out;
}

std::string set_text(const Fingerprints& set, uint32_t width_bits) {
  std::string out = set.empty() ? "" : std::to_string(width_bits) + ":";
  for (const uint64_t fingerprint : set) out += std::to_string(fingerprint) + ",";
  return out;
}

Parts decoded(std::string_view value) {
  Parts parts;
  REQUIRE(decode(parse(value, kKey, Checksum::kVerify).value(), parts).ok());
  return parts;
}

// name, key, bytes, narrow set, wide set; tab separated. tests/formats/test_page.py reads the same file.
std::string golden_text() {
  std::string out;
  for (const auto& [name, value] : golden_values()) {
    const Parts parts = decoded(value);
    out += name + "\t" + kKey + "\t" + hex(value) + "\t" + set_text(parts.narrow, parts.narrow_width_bits) + "\t" +
           set_text(parts.wide, parts.wide_width_bits) + "\n";
  }
  return out;
}

// The same bytes with a checksum that fits them: what somebody who knows the format could write.
std::string signed_again(std::string value) {
  const std::string_view body(value.data(), value.size() - kChecksumBytes);
  const uint32_t checksum = checksum_of(body, kKey);
  std::memcpy(value.data() + body.size(), &checksum, kChecksumBytes);
  return value;
}

}  // namespace

TEST_CASE("filter format: the bytes of each form are golden") {
  const std::string path = BLOOMRING_FILTER_GOLDEN;
  if (std::getenv("BLOOMRING_WRITE_GOLDEN") != nullptr) std::ofstream(path) << golden_text();
  std::stringstream stored;
  stored << std::ifstream(path).rdbuf();
  CHECK(stored.str() == golden_text());
}

TEST_CASE("filter format: the bytes of large values are golden by their hash") {
  const std::string threshold = united({operand(items(0, 4096))});
  const std::string cap = united({operand(items(0, 131'000))});
  const std::string past_cap = united({cap, operand(items(131'000, 133'000))});
  CHECK(hash_bytes(threshold, 0) == 0xe888159e3b064c75ULL);
  CHECK(hash_bytes(cap, 0) == 0xec399141f31c3628ULL);
  CHECK(hash_bytes(past_cap, 0) == 0x08bf18550bf071e8ULL);
}

TEST_CASE("filter format: an operand of 4 has 8 bytes besides its payload, a value of 16 items 24 bits an item") {
  CHECK(operand(items(0, 4)).size() == 8 + 4 * 32 / 8);
  CHECK(united({operand(items(0, 16))}).size() == 8 + 16 * 24 / 8);
}

TEST_CASE("filter format: bits per item keep their budgets at every size") {
  const auto all = items(0, 30'000);
  for (const size_t count :
       {1000, 1500, 2048, 2049, 3000, 4095, 4096, 4097, 6000, 8192, 8193, 10'000, 16'385, 30'000}) {
    const Summary summary = summary_of(united({operand({all.begin(), all.begin() + static_cast<long>(count)})}));
    const double bits = static_cast<double>(summary.bytes) * 8 / static_cast<double>(summary.items);
    CAPTURE(count, bits);
    if (summary.form == Summary::Form::kSparse) CHECK(bits <= 1.25 * -std::log2(summary.expected_error));
    CHECK(bits <= 24.0);
  }
}

TEST_CASE("filter format: every single flipped bit, every truncation, every extension and another key are refused") {
  for (const auto& [name, value] : golden_values()) {
    CAPTURE(name);
    for (size_t bit = 0; bit < value.size() * 8; ++bit) {
      std::string damaged = value;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      REQUIRE(summarize(damaged, kKey).code() == Code::kCorrupt);
    }
    for (size_t size = 0; size < value.size(); ++size) {
      REQUIRE(summarize(std::string_view(value).substr(0, size), kKey).code() == Code::kCorrupt);
    }
    CHECK(summarize(value + '\0', kKey).code() == Code::kCorrupt);
    CHECK(summarize(value, "f:u2:2026-11").code() == Code::kCorrupt);
    CHECK(summarize(value, "").code() == Code::kCorrupt);
  }
}

TEST_CASE("filter format: under a right checksum, too, only the one coding of a set is accepted") {
  for (const auto& [name, value] : golden_values()) {
    CAPTURE(name);
    for (size_t bit = 0; bit < (value.size() - kChecksumBytes) * 8; ++bit) {
      std::string damaged = value;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      damaged = signed_again(damaged);
      CAPTURE(bit);
      const auto summary = summarize(damaged, kKey);
      if (!summary.ok()) {
        REQUIRE(summary.code() == Code::kCorrupt);
        continue;
      }
      // Another set, then; and these are its bytes.
      Parts parts = decoded(damaged);
      REQUIRE(assemble(parts, kKey) == damaged);
    }
  }
}

TEST_CASE("filter format: each fault is refused with its reason") {
  const std::string good = united({operand(items(0, 16))});
  const auto reason = [&](size_t at, uint8_t byte) {
    std::string bad = good;
    bad[at] = static_cast<char>(byte);
    return summarize(signed_again(bad), kKey).status().message();
  };
  CHECK(reason(0, 0xb2).find("not a filter of version 1") != std::string::npos);
  CHECK(reason(1, 0).find("flags") != std::string::npos);
  CHECK(reason(1, 0x21).find("flags") != std::string::npos);
  CHECK(reason(2, 0).find("width") != std::string::npos);
  CHECK(reason(2, 57).find("width") != std::string::npos);
  CHECK(reason(3, 0).find("count") != std::string::npos);
  CHECK(reason(3, 17).find("too short") != std::string::npos);
  CHECK(reason(3, 8).find("longer") != std::string::npos);
  CHECK(summarize(good, "another").status().message().find("checksum") != std::string::npos);
}

TEST_CASE("filter format: a claimed number of items is refused before anything is allocated for it") {
  // 2^32 - 1 items of 32 bits in 12 bytes.
  std::string claim("\xb1\x01\x20\xff\xff\xff\xff\x0f\0\0\0\0", 12);
  CHECK(summarize(signed_again(claim), kKey).code() == Code::kCorrupt);
}
