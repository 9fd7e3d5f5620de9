#include "base/keyed_sum.h"

#include <bit>
#include <cstring>
#include <random>

namespace bloomring {

namespace {

// The four words of state, and the rounds of the paper.
struct Sip {
  explicit Sip(const SumKey& key)
      : v0(key.low ^ 0x736f6d6570736575),
        v1(key.high ^ 0x646f72616e646f6d),
        v2(key.low ^ 0x6c7967656e657261),
        v3(key.high ^ 0x7465646279746573) {}

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void take(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  uint64_t end() {
    v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

  uint64_t v0, v1, v2, v3;
};

}  // namespace

SumKey random_sum_key() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  const uint64_t low = word();
  return {low, word()};
}

uint64_t keyed_sum(std::string_view bytes, const SumKey& key) {
  Sip sip(key);
  const uint64_t length = bytes.size();
  uint64_t word = 0;
  for (; bytes.size() >= sizeof word; bytes.remove_prefix(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    sip.take(word);
  }
  word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  sip.take(word | length << 56);
  return sip.end();
}

}  // namespace bloomring
