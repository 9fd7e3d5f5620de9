#include "base/scatter.h"

#include <unistd.h>

#include <atomic>
#include <optional>

#include "base/hash.h"
#include "base/result.h"

namespace bloomring {

namespace {

std::optional<uint64_t> fixed_seed;
std::atomic<bool> drawn{false};

ScatterSecrets odd(ScatterSecrets secrets) { return {secrets.mask, secrets.first | 1, secrets.second | 1}; }

}  // namespace

ScatterSecrets draw_scatter_secrets() {
  drawn = true;
  ScatterSecrets secrets;
  if (fixed_seed) {
    return odd({hash_bytes("mask", *fixed_seed), hash_bytes("first", *fixed_seed), hash_bytes("second", *fixed_seed)});
  }
  BLOOMRING_CHECK(getentropy(&secrets, sizeof secrets) == 0, "the system gives no random numbers");
  return odd(secrets);
}

void fix_scatter_secrets(uint64_t seed) {
  BLOOMRING_CHECK(!drawn || fixed_seed == seed, "the secrets of the tables are drawn already");
  fixed_seed = seed;
}

}  // namespace bloomring
