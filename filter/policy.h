// The configuration under which filters are written (filter.h). Readers need none of it: a value describes itself.
#pragma once

#include <cstdint>

namespace bloomring::filter {

struct Policy {
  double false_positive_rate = 0.01;  // (0, 0.1]: for the union of everything that one query reads.
  uint32_t periods_read = 4;          // [1, 64]: how many filters one query reads.
  uint32_t dense_from_items = 4096;   // A set with at least this many items takes the dense form; 0: always.
};

}  // namespace bloomring::filter
