#include "filter/index.h"

#include <cstring>

namespace bloomring::filter {

void index_add(uint8_t* blocks, const IndexShape& shape, uint32_t key) {
  uint8_t* const block = blocks + index_block_of(key, shape) * kBlockBytes;
  uint32_t words[kBlockWords];
  std::memcpy(words, block, kBlockBytes);
  for (size_t i = 0; i < kBlockWords; ++i) words[i] |= index_bit(key, i);
  std::memcpy(block, words, kBlockBytes);
}

bool index_may_hold(const IndexView& index, uint32_t key) {
  uint32_t words[kBlockWords];
  std::memcpy(words, index.blocks + index_block_of(key, index.shape) * kBlockBytes, kBlockBytes);
  uint32_t missing = 0;
  for (size_t i = 0; i < kBlockWords; ++i) missing |= ~words[i] & index_bit(key, i);
  return missing == 0;
}

}  // namespace bloomring::filter
