#include <algorithm>
#include <memory>
#include <utility>

#include "tests/filter/filter_fixture.h"

using namespace bloomring;
using namespace bloomring::filter;

TEST_CASE("filter query: what was added is found, in the first filter that holds it") {
  for (const uint32_t dense_from : {0u, 1500u, 100'000u}) {
    Policy policy;
    policy.dense_from_items = dense_from;
    const std::string newer = united({operand(items(0, 1000))}, policy);
    const std::string older = united({operand(items(500, 3000))}, policy);
    const auto found = ask({newer, older}, items(0, 3000));
    for (size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == (i < 1000 ? 0 : 1));
    const auto unseen = ask({newer, older}, items(10'000, 12'000));
    CHECK(std::count(unseen.begin(), unseen.end(), Query::kUnseen) >= 1998);
  }
}

TEST_CASE("filter query: a query can be cleared and used again, and a refused filter leaves it as it was") {
  const std::string value = united({operand(items(0, 100))});
  Query query;
  CHECK(query.add("nonsense", kKey).code() == Code::kCorrupt);
  REQUIRE(query.add(value, kKey).ok());
  std::string damaged = value;
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  CHECK(query.add(damaged, kKey).code() == Code::kCorrupt);
  std::vector<uint8_t> found(200);
  query.run(items(0, 200), kUser, found);
  CHECK(std::count(found.begin(), found.end(), 0) >= 100);
  CHECK(query.expected_error() == Approx(100.0 / (1 << 26)));
  query.clear();
  query.run(items(0, 200), kUser, found);
  CHECK(std::count(found.begin(), found.end(), Query::kUnseen) == 200);
}

// Bytes that would be gone at the end of the statement do not compile.
template <typename Bytes>
concept Addable = requires(Query query, Bytes bytes) { query.add(std::forward<Bytes>(bytes), kKey); };
static_assert(Addable<const std::string&> && Addable<std::string&> && Addable<std::string_view>);
static_assert(!Addable<std::string> && !Addable<const std::string> && !Addable<std::vector<char>>);

TEST_CASE("filter query: a verified value lives as long as the query that asks it, whoever else has let it go") {
  for (const uint32_t dense_from : {0u, 100'000u}) {
    Policy policy;
    policy.dense_from_items = dense_from;
    Query query;
    std::weak_ptr<const VerifiedValue> watched;
    {
      auto value = VerifiedValue::verify(united({operand(items(0, 10'000))}, policy), kKey).value();
      watched = value;
      REQUIRE(query.add(value).ok());
    }
    std::vector<uint8_t> found(10'000);
    query.run(items(0, 10'000), kUser, found);
    CHECK(std::count(found.begin(), found.end(), 0) == 10'000);
    CHECK_FALSE(watched.expired());
    query.clear();
    CHECK(watched.expired());
  }
}

TEST_CASE("filter query: what is not exactly a value under its key is not verified") {
  const std::string value = united({operand(items(0, 100))});
  CHECK(VerifiedValue::verify(value, kKey).ok());
  CHECK(VerifiedValue::verify(value, "another key").code() == Code::kCorrupt);
  CHECK(VerifiedValue::verify("", kKey).code() == Code::kCorrupt);
  for (size_t i = 0; i < value.size(); ++i) {
    std::string damaged = value;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK(VerifiedValue::verify(damaged, kKey).code() == Code::kCorrupt);
  }
}

TEST_CASE("filter query: at most 64 filters, the last of which still has its own number") {
  Query query;
  std::vector<std::string> values;
  for (uint64_t i = 0; i < Query::kFiltersMax; ++i) values.push_back(united({operand(items(i, i + 1))}));
  for (const std::string& value : values) REQUIRE(query.add(value, kKey).ok());
  CHECK(query.add(values[0], kKey).code() == Code::kInvalid);
  std::vector<uint8_t> found(1);
  query.run(items(63, 64), kUser, found);
  CHECK(found[0] == 63);
}

TEST_CASE("filter query: the error that is measured is the one that was computed") {
  // One period of 10 %: 21 bits for 131,072 items, so that a modest number of probes suffices.
  for (const uint32_t dense_from : {0u, 1'000'000u}) {
    Policy policy;
    policy.false_positive_rate = 0.1;
    policy.periods_read = 1;
    policy.dense_from_items = dense_from;
    const std::string value = united({operand(items(0, 100'000), policy)}, policy);
    const double expected = summary_of(value).expected_error;
    const auto found = ask({value}, items(1'000'000, 1'400'000));
    const double measured = 1 - static_cast<double>(std::count(found.begin(), found.end(), Query::kUnseen)) / 400'000;
    CAPTURE(expected, measured);
    CHECK(measured == Approx(expected).epsilon(0.03));  // 4.5 standard deviations.
  }
}

TEST_CASE("filter query: another user's multiplier makes other items collide") {
  Policy policy;
  policy.false_positive_rate = 0.1;
  policy.periods_read = 1;
  const std::vector<ItemHash> candidates = items(100'000, 200'000);
  std::vector<uint8_t> found[2] = {std::vector<uint8_t>(candidates.size()), std::vector<uint8_t>(candidates.size())};
  const std::string users[2] = {std::string("\0a", 2), std::string("\0b", 2)};
  for (int u = 0; u < 2; ++u) {
    const std::string value = make(items(0, 50'000), users[u], kKey, policy);
    const std::string_view views[] = {value};
    const std::string stored = unite(views, kKey, policy, false).value();
    Query query;
    REQUIRE(query.add(stored, kKey).ok());
    query.run(candidates, users[u], found[u]);
  }
  size_t both = 0;
  for (size_t c = 0; c < candidates.size(); ++c) both += found[0][c] == 0 && found[1][c] == 0;
  CHECK(both < 150);  // 0.024^2 of 100,000 is 58; the same hash for both would give 2,400.
}
