#include "base/keyed_sum.h"

#include <catch2/catch.hpp>
#include <string>

using namespace bloomring;

namespace {

// The key 00 01 .. 0f of the paper's test vectors, and messages 00 01 02 .. of any length.
constexpr SumKey kPaperKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
std::string counting(size_t bytes) {
  std::string message;
  for (size_t i = 0; i < bytes; ++i) message += static_cast<char>(i);
  return message;
}

}  // namespace

TEST_CASE("keyed sum: it is that of the published vectors of SipHash-2-4") {
  CHECK(keyed_sum(counting(0), kPaperKey) == 0x726fdb47dd0e0e31);
  CHECK(keyed_sum(counting(1), kPaperKey) == 0x74f839c593dc67fd);
  CHECK(keyed_sum(counting(8), kPaperKey) == 0x93f5f5799a932462);
  CHECK(keyed_sum(counting(15), kPaperKey) == 0xa129ca6149be45e5);
}

TEST_CASE("keyed sum: every bit of the key and of the message counts, and so does the length") {
  const std::string message = counting(21);
  const uint64_t sum = keyed_sum(message, kPaperKey);
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t flipped = uint64_t{1} << bit;
    CHECK(keyed_sum(message, {kPaperKey.low ^ flipped, kPaperKey.high}) != sum);
    CHECK(keyed_sum(message, {kPaperKey.low, kPaperKey.high ^ flipped}) != sum);
  }
  for (size_t at = 0; at < message.size(); ++at) {
    std::string changed = message;
    changed[at] ^= 1;
    CHECK(keyed_sum(changed, kPaperKey) != sum);
  }
  CHECK(keyed_sum(std::string(8, '\0'), kPaperKey) != keyed_sum(std::string(9, '\0'), kPaperKey));
}

TEST_CASE("keyed sum: two random keys differ") { CHECK_FALSE(random_sum_key() == random_sum_key()); }
