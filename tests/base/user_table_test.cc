#include "base/user_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

namespace bloomring {

TEST_CASE("user table: keys are numbered in the order of their first appearance, also where hashes collide") {
  UserTable table;
  std::mt19937_64 random(7);
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, uint32_t> numbers;
    for (int i = 0; i < 2'000; ++i) {
      const std::string key = "u" + std::to_string(random() % 700);
      const uint64_t hash = std::stoull(key.substr(1)) % 50;  // Many users a hash.
      const auto wanted = numbers.emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
      REQUIRE(table.find_or_add({key, hash}) == wanted);
    }
    REQUIRE(table.size() == numbers.size());
    size_t bytes = 0;
    for (const auto& [key, number] : numbers) {
      REQUIRE(table.key(number) == key);
      REQUIRE(table.hash(number) == std::stoull(key.substr(1)) % 50);
      bytes += key.size();
    }
    CHECK(table.key_bytes() == bytes);
    table.clear();
    CHECK(table.size() == 0);
  }
}

// 131,072 places: of random ones the longest search reads about 30, and 100 once in 10^10 times.
TEST_CASE("user table: users whose hashes share bits, whichever, are found as fast as others") {
  for (const unsigned shift : {0, 12, 28, 44}) {
    UserTable table;
    for (uint64_t i = 0; i < 50'000; ++i) table.find_or_add({"u" + std::to_string(i), i << shift ^ 5});
    CHECK(table.longest_search() < 100);
  }
}

}  // namespace bloomring
