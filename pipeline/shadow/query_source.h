// Where the queries of a comparison come from: a file, or copies of live calls.
// Threading: one thread, unless a source says otherwise.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "client/filter_call.h"

namespace bloomring {

class QuerySource {
 public:
  virtual ~QuerySource() = default;
  // The next query, or nothing for now. Never waits.
  virtual Result<std::optional<FilterCall>> next() = 0;
  // Nothing will come any more.
  virtual bool ended() const = 0;
  virtual uint64_t refused() const = 0;            // Queries that were none.
  virtual uint64_t dropped() const { return 0; }   // Queries for which there was no room.
  virtual uint64_t unlike() const { return 0; }    // Queries of another kind.
};

}  // namespace bloomring
