#include "state/store/stored_union.h"

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/store_key.h"

using namespace bloomring;

namespace {

const std::string kUser(UserKey("feed", "u1").bytes());
const std::string kKey = filter_key(kUser, PeriodUnit::kMonth, PeriodIndex(682));
const filter::Policy kPolicy;

std::string made(const std::string& item) {
  const ItemHash hash = item_hash(item);
  return filter::make({&hash, 1}, kUser, kKey, kPolicy);
}

StoredUnion unite(const std::vector<std::string>& values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  return unite_stored(views, kKey, kPolicy, false);
}

StoredUnion unite_operands(const std::vector<std::string>& values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  return unite_stored_operands(views, kKey);
}

}  // namespace

TEST_CASE("stored union: of good values it is their union and nothing is refused") {
  const StoredUnion all = unite({made("a"), made("b")});
  CHECK(all.refused == 0);
  CHECK(check_stored(all.value, kKey).ok());
  CHECK(filter::summarize(all.value, kKey)->items == 2);
  CHECK(unite({unite_operands({made("a"), made("b")}).value}).value == all.value);
}

TEST_CASE("stored union: what is no filter is refused once and remembered, what is good is kept") {
  StoredUnion all = unite({made("a"), "garbage", made("b"), ""});
  CHECK(all.refused == 2);
  const Status status = check_stored(all.value, kKey);
  CHECK(status.code() == Code::kCorrupt);
  CHECK_THAT(status.message(), Catch::Contains("user " + user_hash_text(kUser) + " in scene feed, month 682") &&
                                   Catch::Contains("2 part(s)") &&
                                   Catch::Contains("the rest is kept"));

  all = unite({all.value, made("c")});
  CHECK(all.refused == 0);
  const std::string good = unite({made("a"), made("b"), made("c")}).value;
  REQUIRE(all.value.size() > good.size());
  CHECK(all.value.substr(all.value.size() - good.size()) == good);
}

TEST_CASE("stored union: damage passes through a union of operands") {
  const std::string operands = unite_operands({made("a"), "garbage"}).value;
  CHECK(check_stored(operands, kKey).code() == Code::kCorrupt);
  const StoredUnion all = unite({made("b"), operands});
  CHECK(all.refused == 0);
  CHECK(check_stored(all.value, kKey).code() == Code::kCorrupt);
}

TEST_CASE("stored union: where nothing was good it says so, whatever the bytes") {
  const std::string zero(1, '\0');
  for (const std::string& bytes : {std::string("x"), zero, zero + '\xff', std::string(300, '\0')}) {
    const StoredUnion all = unite({bytes});
    const Status status = check_stored(all.value, kKey);
    CHECK(status.code() == Code::kCorrupt);
    CHECK(unite({all.value, made("a")}).refused == 0);
  }
}

TEST_CASE("stored union: damage stays whatever count a damaged value has") {
  const std::string most(9, '\xff');
  for (const std::string& count : {std::string(1, '\0'), most + "\x01"}) {
    const std::string damaged = std::string(1, '\0') + count + std::string(1, '\0') + made("a");
    const StoredUnion all = unite({damaged, "garbage"});
    CHECK(check_stored(all.value, kKey).code() == Code::kCorrupt);
    CHECK(check_stored(unite({damaged, made("b")}).value, kKey).code() == Code::kCorrupt);
  }
}
