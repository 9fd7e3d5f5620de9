// Where a hash of a user or an item has its place in a table of this process.
//
// The hashes of base/hash.h are public, and ids may be chosen by anybody: a few milliseconds of work find an id whose
// hash shares any 28 bits with others. In a table whose places are bits of the hash, many such ids make each search
// walk along all of them. `scatter` mixes a hash with random numbers of the process, so that nobody outside knows
// which hashes meet. For tables in memory only: stored and sent bytes, shards and partitions keep the hash itself.
//
// Two rounds of a folded multiplication (both halves of 64 x 64 bits, xored). One round leaves patterns: of hashes
// that differ in a few bits only, for some random numbers many meet (tests/base/scatter_test.cc).
// Threading: thread safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bloomring {

struct ScatterSecrets {
  uint64_t mask = 0;
  uint64_t first = 1;   // Odd, as is `second`.
  uint64_t second = 1;
};

inline uint64_t folded_product(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The pure function. `with` is a second word to mix in.
inline uint64_t scatter(uint64_t hash, uint64_t with, const ScatterSecrets& secrets) {
  return folded_product(folded_product(hash ^ secrets.mask, secrets.first) ^ with, secrets.second);
}

// Those of this process: drawn from the system at the first use.
ScatterSecrets draw_scatter_secrets();
inline const ScatterSecrets& scatter_secrets() {
  static const ScatterSecrets secrets = draw_scatter_secrets();
  return secrets;
}
// For simulations, whose runs must repeat: the secrets of this process follow from the seed. Before their first use.
void fix_scatter_secrets(uint64_t seed);

inline uint64_t scatter(uint64_t hash, uint64_t with = 0) { return scatter(hash, with, scatter_secrets()); }

// The hash function of standard containers whose keys are hashes.
struct Scattered {
  size_t operator()(uint64_t hash) const { return scatter(hash); }
};

// The most keys in one bucket of a standard container. Takes a walk over all of them.
template <typename Container>
size_t longest_bucket(const Container& container) {
  size_t longest = 0;
  for (size_t bucket = 0; bucket < container.bucket_count(); ++bucket)
    longest = std::max(longest, container.bucket_size(bucket));
  return longest;
}

// The most places that the search for a key reads in a table of open addressing with linear probing. It has `places`
// places, a power of two. Takes a walk over all of them. `home(i)` is where the search for the key in place i begins;
// `taken(i)` tells whether a key is there.
template <typename Taken, typename Home>
size_t longest_probe(size_t places, const Taken& taken, const Home& home) {
  size_t longest = 0;
  for (size_t place = 0; place < places; ++place) {
    if (taken(place)) longest = std::max(longest, ((place - home(place)) & (places - 1)) + 1);
  }
  return longest;
}

}  // namespace bloomring
