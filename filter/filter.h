// The filter: the set of items that one user key has played in one period, as bytes.
//
// A value is the bytes that a filter store holds under one key. It starts as a sorted set of short fingerprints (sparse
// form) and gets an index that makes large sets quick to query (dense form); docs/formats.md is its specification.
// Merging is a union: idempotent, commutative, associative, so at-least-once delivery is enough.
//
// This header and what it includes need nothing but xxHash: no Kafka, no RocksDB, no gRPC.
//
// Errors: bytes from a store are untrusted input. Bytes that are not exactly a value of this format under exactly this
// key give Code::kCorrupt with the reason. No input causes a crash, an over-read, or an allocation larger than its own
// size justifies.
// Threading: pure functions; one thread at a time uses a Query.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/result.h"
#include "filter/policy.h"

namespace bloomring::filter {

// A value's description of itself.
struct Summary {
  enum class Form : uint8_t { kSparse, kDense };
  Form form = Form::kSparse;
  uint64_t items = 0;       // Distinct fingerprints.
  uint32_t width_bits = 0;  // Of a fingerprint (of the first set).
  uint32_t sets = 1;
  bool folded = false;          // The period was closed and the fingerprints were cut to fewer bits.
  bool saturated = false;       // Past the hard cap: the error budget is not held any more.
  double expected_error = 0.0;  // Probability that an item that was never added is found.
  size_t bytes = 0;
};

// A value that holds exactly these items (repeats allowed; at least one). `user_key_bytes` gives the per-user factor,
// and the checksum is bound to `store_key`. The result is an operand: sparse, and with more bits an item than a stored
// value, because the value that it is united with may need them (a user with more items than planned).
std::string make(std::span<const ItemHash> items, std::string_view user_key_bytes, std::string_view store_key,
                 const Policy& policy);

// Reads the header and verifies checksum and structure.
Result<Summary> summarize(std::string_view value, std::string_view store_key);

// The union of one or more values under the same key, in the form that the policy asks for: the value to store. While
// the period is open and holds no more items than planned (131,072), the same set gives the same bytes in any order,
// batching and repetition. Beyond that it gives the same items, but the order of their arrival decides which of them
// are narrow. So a union that added nothing equals the value before, and need not be written.
//
// `closed` says that the period is over. A closed period rests when at most an eighth of it is new; the result is then
// folded to the fewest bits that the budget allows.
Result<std::string> unite(std::span<const std::string_view> values, std::string_view store_key, const Policy& policy,
                          bool closed);

// The union of operands without their stored value (a partial merge): keeps every bit, is always sparse.
Result<std::string> unite_operands(std::span<const std::string_view> values, std::string_view store_key);

// A value that has been verified under its key, once for all queries, so that a cache can keep it. Owns its bytes;
// immutable, so any number of threads may use it. Queries share it: it lives until the last of them releases it.
class VerifiedValue {
 public:
  // Verifies the checksum and all lengths, and of the sparse form also the sets; see Query::add for the dense form.
  static Result<std::shared_ptr<const VerifiedValue>> verify(std::string bytes, std::string store_key);
  VerifiedValue(const VerifiedValue&) = delete;
  VerifiedValue& operator=(const VerifiedValue&) = delete;
  ~VerifiedValue();

  std::string_view bytes() const BLOOMRING_LIFETIMEBOUND { return bytes_; }
  std::string_view store_key() const BLOOMRING_LIFETIMEBOUND { return store_key_; }
  // Memory that it takes, in bytes.
  size_t bytes_held() const { return sizeof *this + kParsedBytes + bytes_.capacity() + store_key_.capacity(); }

 private:
  friend class Query;
  struct Parsed;
  static constexpr size_t kParsedBytes = 256;  // Upper bound for `parsed_`.
  VerifiedValue(std::string bytes, std::string store_key);

  const std::string bytes_;
  const std::string store_key_;
  std::unique_ptr<const Parsed> parsed_;  // Points into `bytes_`.
};

// Tests many candidates of one user against all of that user's filters at once.
class Query {
 public:
  static constexpr uint8_t kUnseen = 0xff;
  static constexpr size_t kFiltersMax = 64;

  // kNone: the portable code even where the machine has better, for tests and comparisons. The answers are the same.
  enum class Simd { kBest, kNone };
  explicit Query(Simd simd = Simd::kBest);
  ~Query();
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;

  // Adds a filter, newest period first. The query keeps it until `clear` or its own end. Fails, and adds nothing, when
  // it has kFiltersMax.
  Status add(std::shared_ptr<const VerifiedValue> value);
  // The same for bytes that were not verified yet. The caller keeps the bytes of the value (not those of the key) in
  // place until `clear` or the end of the query. A failure adds nothing. Of a dense value, `add` verifies the checksum
  // and all lengths, but not the order of its fingerprints, which takes as long as decoding (`summarize` and `unite` do
  // it). A wrong order under a right checksum gives wrong answers, but no read outside the value.
  Status add(std::string_view value, std::string_view store_key);
  template <OwningTemporary Bytes>
  Status add(Bytes&& value, std::string_view store_key) = delete;
  // For each candidate the index (in order of `add`) of the first filter that holds it, or kUnseen.
  // `found` has the size of `candidates`.
  void run(std::span<const ItemHash> candidates, std::string_view user_key_bytes, std::span<uint8_t> found);
  // Sum of the expected errors of the added filters.
  double expected_error() const;
  // True when a filter is past its hard cap: the budget does not hold for this answer.
  bool saturated() const;
  // Releases the filters, which the caller may then free; keeps its own memory.
  void clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring::filter
