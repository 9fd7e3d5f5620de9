// Shared by the filter tests: items by number, one user, one store key, and short verbs.
#pragma once

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "filter/filter.h"

namespace bloomring::filter {

inline const std::string kUser("\0u1", 3);
inline const std::string kKey = "f:u1:2026-11";

// Items [begin, end), hashed from their decimal names.
inline std::vector<ItemHash> items(uint64_t begin, uint64_t end) {
  std::vector<ItemHash> out;
  for (uint64_t i = begin; i < end; ++i) out.push_back(item_hash(std::to_string(i)));
  return out;
}

inline std::string operand(const std::vector<ItemHash>& of, const Policy& policy = {}) {
  return make(of, kUser, kKey, policy);
}

inline std::string united(const std::vector<std::string>& values, const Policy& policy = {}, bool closed = false) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  auto result = unite(views, kKey, policy, closed);
  INFO(result.status().to_string());
  REQUIRE(result.ok());
  return result.value();
}

inline Summary summary_of(const std::string& value) {
  auto result = summarize(value, kKey);
  INFO(result.status().to_string());
  REQUIRE(result.ok());
  return result.value();
}

// The index of the first filter that holds each candidate.
inline std::vector<uint8_t> ask(const std::vector<std::string>& filters, const std::vector<ItemHash>& candidates) {
  Query query;
  for (const std::string& filter : filters) {
    const Status added = query.add(filter, kKey);
    INFO(added.to_string());
    REQUIRE(added.ok());
  }
  std::vector<uint8_t> found(candidates.size(), 7);
  query.run(candidates, kUser, found);
  return found;
}

}  // namespace bloomring::filter
